"""What one version changes for the requests of an audit."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content

from ktui.audit.report import Report
from ktui.audit.version_shares import VersionShare
from ktui.core.format import integer, long_bytes, percent
from ktui.tui.audit.report_view import audit_badge
from ktui.tui.audit.rows import shape_runs
from ktui.tui.audit.version_rows import Moved, VersionLine, compared_with, gates_of, moved_between
from ktui.tui.widgets.lines import line, lines, pad


def changes_title(row: VersionLine | None, report: Report) -> str:
    than = compared_with(row, report) if row is not None else None
    return f"what changes from {than.version} to {row.version}" if row and than else "what changes"


def changes_content(row: VersionLine | None, report: Report, width: int, height: int) -> Content:
    """Return requests and bytes whose route changes, the gates that cause it, and the groups by cost."""
    if row is None:
        return line(("no LIST of a stored resource was read", "$ink-muted"))
    than = compared_with(row, report)
    if than is None:
        return line((f"{row.version} is the oldest version known", "$ink-muted"))
    moved = moved_between(report, than.version, row.version)
    if not moved:
        text = f"nothing: every LIST is served as in {than.version}{_bytes_words(row, than)}"
        return line((text, "$ink-muted")).truncate(width, ellipsis=True)
    drawn = [line((text, "bold $ink-strong")) for text in textwrap.wrap(_summary(row, than, moved), width)]
    if gates := gates_of(moved, than.version, row.version, report):
        text = ", ".join(gates)
        drawn.append(
            line(("because of ", "$ink-muted"), (text, "$foreground")).truncate(width, ellipsis=True)
        )
    room = height - len(drawn)
    shown = moved if len(moved) <= room else moved[: max(0, room - 1)]
    drawn += [_moved(each, width) for each in shown]
    if len(shown) < len(moved):
        drawn.append(line((f"  … {integer(len(moved) - len(shown))} more groups", "$ink-muted")))
    return lines(drawn[:height])


def _summary(row: VersionLine, than: VersionShare, moved: Sequence[Moved]) -> str:
    requests = sum(each.group.count for each in moved)
    share = percent(requests / row.requests)
    return (
        f"{share} of your LISTs ({integer(requests)}) are served from another source{_bytes_words(row, than)}"
    )


def _bytes_words(row: VersionLine, than: VersionShare) -> str:
    """Return `; LISTs read ~1.2 GB less from etcd (estimated)`; "" if unknown or equal."""
    if than.etcd_bytes is None or row.share.etcd_bytes is None:
        return ""
    change = row.share.etcd_bytes - than.etcd_bytes
    if abs(change) < 0.5:
        return ""
    return f"; LISTs read ~{long_bytes(abs(change))} {'more' if change > 0 else 'less'} from etcd (estimated)"


def _moved(each: Moved, width: int) -> Content:
    before, after = audit_badge(each.before), audit_badge(each.after)
    return line(
        (before.letter, before.style), (" → ", "$ink-faint"), (after.letter, after.style),
        (f" {integer(each.group.count):>9} × ", "$ink-muted"),
        (pad(each.group.client or "(no user agent)", min(28, width // 3)), "$foreground"), ("  ", ""),
        *shape_runs(each.group),
    ).truncate(width, ellipsis=True)  # fmt: skip
