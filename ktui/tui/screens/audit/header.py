"""The top line of an audit: which files, under which rules."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from ktui.audit.report import Report
from ktui.tui.model.format import integer
from ktui.tui.widgets.lines import between, line

_DOT = (" · ", "$ink-faint")


def header_line(names: Sequence[str], version: str, report: Report | None, width: int) -> Content:
    """`ktui · audit · audit.log and 2 more · rules of 1.30`, and how many lines."""
    first = names[0].rpartition("/")[2] if names else ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    named = [_DOT, (f"{first}{more}", "bold $ink-strong")] if first else []
    rules = [_DOT, ("rules of kube ", "$ink-muted"), (version, "$foreground")]
    left = line(("ktui", "bold $accent"), _DOT, ("audit", "$foreground"), *named, *rules)
    told = "" if report is None else f"{integer(report.lines.total)} lines read"
    return between(left, line((told, "$ink-muted")), width)
