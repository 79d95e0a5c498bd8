"""Reads and ranks an audit's logs in a thread, by the rules of a version that can be changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.containers import Container
from textual.content import Content

from ktui.audit.build import Wish
from ktui.audit.report import Report
from ktui.core.format import percent
from ktui.kube.versions import Behaviour, BehaviourError
from ktui.tui.audit.log_reading import LiveReading, Reading
from ktui.tui.audit.versions_view import MOST_ASKED, share_under
from ktui.tui.dialogs.rules import RulesScreen, key_line
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.widgets.lines import line


class AuditRules(RulesScreen):
    """The choice of a version and its gates, and what these would change for the LISTs read."""

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


class Ranker:
    """`report` is the last one, by the rules of `wish`; None before the first.

    In the app's thread it calls `ranked` with each report, `failed` with a title and a reason.
    """

    def __init__(
        self,
        screen: ModeScreen,
        reading: Reading,
        wish: Wish,
        *,
        ranked: Callable[[Report], None],
        failed: Callable[[str, str], None],
    ) -> None:
        self.reading, self.wish = reading, wish
        self.report: Report | None = None
        self.ranking = False  # everything is read, and a report is being made
        self._screen = screen
        self._ranked = ranked
        self._failed = failed

    def read(self) -> None:
        """Start reading all logs and ranking."""
        self._in_a_thread(self._read)

    def rank(self, wish: Wish) -> None:
        """Start ranking what was read by other rules."""
        self._in_a_thread(partial(self._rank, wish))

    def rank_again(self) -> None:
        """Rank the lines that have come since, in logs that are followed."""
        reading = self.reading
        if isinstance(reading, LiveReading) and reading.ready and not self.ranking and not reading.stopped:
            self.ranking = True
            self.rank(self.wish)

    def stop(self) -> None:
        """Stop reading, and rank what was read."""
        self.reading.stop()

    def _in_a_thread(self, work: Callable[[], None]) -> None:
        self._screen.run_worker(work, thread=True, group="audit")

    def _read(self) -> None:
        call = self._screen.app.call_from_thread
        try:
            self.reading.run()
        except OSError as error:
            what = f"{error.filename or 'the log'}: {error.strerror or error}"
            call(self._failed, "this cannot be read", what)
            return
        call(self._begin)
        self._rank(self.wish)

    def _rank(self, wish: Wish) -> None:
        call = self._screen.app.call_from_thread
        try:
            report = self.reading.report(wish)
        except BehaviourError as error:
            call(self._refuse, str(error))
        else:
            call(self._take, wish, report)

    def _begin(self) -> None:
        self.ranking = True
        self._screen.paint()

    def _take(self, wish: Wish, report: Report) -> None:
        self.wish, self.report, self.ranking = wish, report, False
        self._ranked(report)

    def _refuse(self, problem: str) -> None:
        """Keep the last report, as these rules are invalid."""
        self.ranking = False
        self._screen.notify(problem, severity="error")
