"""The choice of the rules that an audit's requests are routed by."""

from __future__ import annotations

from textual.containers import Container
from textual.content import Content

from ktui.audit.report import Report
from ktui.core.format import percent
from ktui.kube.versions import Behaviour
from ktui.tui.audit.version_rows import MOST_ASKED, share_under
from ktui.tui.dialogs.rules import RulesScreen, key_line
from ktui.tui.widgets.lines import line


class AuditRules(RulesScreen):
    """Versions and gates, and what they would change for the LISTs read."""

    def __init__(self, now: Behaviour, report: Report) -> None:
        super().__init__(now, "", lambda behaviour: effect_content(report, behaviour))

    def on_mount(self) -> None:
        super().on_mount()
        box = self.query_one(Container)
        box.border_title = "route by the rules of"
        box.border_subtitle = key_line("chooses")


def effect_content(report: Report, behaviour: Behaviour) -> Content:
    """Return which share of the LISTs these rules serve from etcd."""
    etcd, total = share_under(report, behaviour)
    if not total:
        return line(("no LIST of a stored resource was read", "$ink-muted"))
    now = report.versions[0]
    before = now.etcd / max(1, now.etcd + now.cache + now.refused)
    few = behaviour.changed_gates and len(report.groups) > MOST_ASKED
    of = f" of the LISTs of the {MOST_ASKED} most expensive groups" if few else " of your LISTs"
    return line(
        (percent(etcd / total), "bold $route-etcd"),
        (f"{of} from etcd", "$foreground"),
        (f" · now, under {report.kube_version}: {percent(before)}", "$ink-muted"),
    )
