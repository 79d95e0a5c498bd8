"""What one version changes for the whole audit."""

from __future__ import annotations

from textual.content import Content

from ktui.audit.moves import percent
from ktui.audit.report import Report
from ktui.tui.model.audit_lines import shape_runs
from ktui.tui.model.audit_view import Moved, VersionLine, audit_badge, gates_of, moved_between
from ktui.tui.model.format import integer, long_bytes
from ktui.tui.widgets.lines import line, lines


def changes_title(row: VersionLine | None) -> str:
    if row is None or row.before is None:
        return "what changes"
    return f"what {row.version} changes against {row.before.version}"


def changes_content(row: VersionLine | None, report: Report, width: int, height: int) -> Content:
    """Requests and bytes that move, the gates because of which, and the groups, the costliest first."""
    if row is None:
        return line(("no LIST of a stored resource was read", "$ink-muted"))
    if row.before is None:
        return line((f"{row.version} is the oldest version known", "$ink-muted"))
    moved = moved_between(report, row.before.version, row.version)
    if not moved:
        text = f"every LIST is served from where {row.before.version} serves it{_bytes_words(row)}"
        return line((text, "$ink-muted")).truncate(width, ellipsis=True)
    drawn = [_told(row, moved, width)]
    if gates := gates_of(moved, row.version, report):
        drawn.append(
            line(("because of ", "$ink-muted"), (", ".join(gates), "$foreground")).truncate(
                width, ellipsis=True
            )
        )
    room = height - len(drawn)
    shown = moved if len(moved) <= room else moved[: max(0, room - 1)]
    drawn += [_moved(each, width) for each in shown]
    if len(shown) < len(moved):
        drawn.append(line((f"  … {len(moved) - len(shown):,} groups more", "$ink-muted")))
    return lines(drawn[:height])


def _told(row: VersionLine, moved: list[Moved], width: int) -> Content:
    requests = sum(each.group.count for each in moved)
    share = percent(requests / row.requests) if row.requests else ""
    text = f"{integer(requests)} of {integer(row.requests)} LISTs ({share}) are served from elsewhere{_bytes_words(row)}"
    return line((text, "bold $ink-strong")).truncate(width, ellipsis=True)


def _bytes_words(row: VersionLine) -> str:
    """`, etcd reads ~1.2 GB less (estimated)`."""
    before = row.before
    if before is None or before.etcd_bytes is None or row.share.etcd_bytes is None:
        return ""
    change = row.share.etcd_bytes - before.etcd_bytes
    if abs(change) < 0.5:
        return ""
    return f"; LISTs read ~{long_bytes(abs(change))} {'more' if change > 0 else 'less'} from etcd (estimated)"


def _moved(each: Moved, width: int) -> Content:
    before, after = audit_badge(each.before), audit_badge(each.after)
    return line(
        (before.letter, before.style), (" → ", "$ink-faint"), (after.letter, after.style),
        (f" {integer(each.group.count):>9} × ", "$ink-muted"), *shape_runs(each.group),
        (f"   {each.group.client or '(no user agent)'}", "$ink-muted"),
    ).truncate(width, ellipsis=True)  # fmt: skip
