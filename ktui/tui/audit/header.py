"""The top line of an audit: files, view and rules."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from ktui.audit.report import Report
from ktui.core.format import many
from ktui.tui.widgets.header import clickable
from ktui.tui.widgets.lines import between, line

_DOT = (" · ", "$ink-faint")


def header_line(
    names: Sequence[str], version: str, report: Report | None, width: int, view: str = ""
) -> Content:
    """Return `ktui › Audit · audit.log and 2 more › #1 · rules of kube 1.30`, and how many lines were read.

    In a view, a click on the files leads back to the groups.
    """
    first = names[0].rpartition("/")[2] if names else "groups"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    files = line((f"{first}{more}", "$accent" if view else "bold $ink-strong"))
    if view:
        step = line((" › ", "$ink-faint"), (view, "bold $ink-strong"))
        files = clickable(files, "screen.leave") + step
    named = [line(_DOT), files] if names or view else []
    rules = line(_DOT, ("rules of kube ", "$ink-muted"), (version or "…", "$foreground"))
    left = Content.assemble(
        line(("ktui", "bold $accent"), (" › ", "$ink-faint"), ("Audit", "$foreground")), *named, rules
    )
    text = "" if report is None else _read(report.lines.total)
    return between(left, line((text, "$ink-muted")), width)


def _read(lines: int) -> str:
    return f"{many(lines, 'line')} read"
