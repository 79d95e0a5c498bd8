"""The clients that read one resource, and the cost of that, from the ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from textual.content import Content

from ktui.core.format import integer, long_bytes
from ktui.core.ranking.lines import RankLine
from ktui.core.ranking.shape_words import shape_runs
from ktui.core.state import State, WatcherRow
from ktui.tui.requests.ranking_columns import route_runs
from ktui.tui.widgets.lines import line, lines, pad

_ASKED, _SIZE, _LETTERS = 6, 9, 3  # cells
_CLIENT, _WHOLE_CLIENT = 14, 19  # cells of a client; the latter from _ROOMY cells of width on
_LEAST_REQUEST, _ROOMY = 10, 60


def readers_content(
    rows: Sequence[RankLine], state: State, resource: str, width: int, height: int
) -> Content:
    """Return the most expensive reads of `resource` (`rows`, in order of cost), then its watchers."""
    watchers = [row for row in state.watchers.values() if row.resource == resource]
    if not rows and not watchers:
        return line(("no reads since ktui connected", "$ink-muted"))
    below = [_watched_by(watchers, width)] if watchers else []
    room = height - len(below) - 1
    drawn = [_head(width), *(_row(row, width) for row in rows[: max(1, room)])] if rows else []
    return lines([*drawn, *below][:height])


def _head(width: int) -> Content:
    asked, size = pad("count", _ASKED, right=True), pad("processed", _SIZE + 1, right=True)
    return line((pad("", max(0, width - _ASKED - _SIZE - 1)) + asked + size, "$ink-muted"))


def _row(row: RankLine, width: int) -> Content:
    client = _WHOLE_CLIENT if width >= _ROOMY else _CLIENT
    room = max(_LEAST_REQUEST, width - _LETTERS - client - _ASKED - _SIZE - 2)
    letters = route_runs(row)[:2]
    what = line(*shape_runs(row.group.key.shape)) if row.group is not None else line("")
    return Content.assemble(
        line(*letters, (" " * (_LETTERS - len(letters)), ""), (pad(row.client, client) + " ", "$ink-strong")),
        what.truncate(room, ellipsis=True, pad=True),
        line(
            (integer(row.count).rjust(_ASKED), "$foreground"),
            _processed(row.spent.processed_bytes),
        ),
    ).truncate(width, ellipsis=True)


def _processed(size: float) -> tuple[str, str]:
    """Return bytes processed as in the ranking, a dot for none."""
    return (long_bytes(size) if size else "·").rjust(_SIZE + 1), "$ink-strong" if size else "$ink-faint"


def _watched_by(watchers: Sequence[WatcherRow], width: int) -> Content:
    """Return `watched by kubelet ×60, kube-scheduler`, the most frequent first."""
    clients = Counter(row.opened.client for row in watchers).most_common()
    words = [f"{client} ×{integer(count)}" if count > 1 else client for client, count in clients]
    return line(("watched by ", "$ink-muted"), (", ".join(words), "$foreground")).truncate(
        width, ellipsis=True
    )
