"""The banner when the dashboard gets no data: the reason, and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from ktui.core.format import clock_time, duration, integer, many
from ktui.core.live.state import LiveState
from ktui.core.state import CacheRow, Rewind, State
from ktui.tui.keys.hints import key_of
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.lines import line

REWIND_SECONDS = 300.0  # for which it is said that another history of etcd began

MOST_LINES = 2
NAMED_CACHES = 3  # of those that are stale
FRAME = 5  # cells beside its text: the border and the padding


class Banner(Static):
    """Hidden while all is well."""

    DEFAULT_CSS = """
    Banner {
        height: auto; display: none; padding: 0 2; margin: 0 0 0 0;
        border-left: outer $warning; background: $surface;
        &.-shown { display: block; }
        &.-stopped { border-left: outer $error; }
        &.-starting { border-left: outer $primary; }
    }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._said: tuple[Content, str] = (Content(""), "")

    @property
    def text(self) -> str:
        """What it says, "" when hidden."""
        return self._said[0].plain

    def show_link(self, state: State, link: Link, otherwise: Content | None = None) -> None:
        """Say what is wrong, or else `otherwise`."""
        phrase = banner_of(state, link, self.screen.size.width - FRAME)
        if not phrase[1] and otherwise is not None:
            phrase = otherwise, "starting"
        if phrase == self._said:
            return
        self._said = phrase
        content, kind = phrase
        self.update(content)
        self.set_class(bool(kind), "-shown")
        self.set_class(kind == "stopped", "-stopped")
        self.set_class(kind == "starting", "-starting")
        # What is below is of the past: it shows so, and not by its colour alone.
        self.screen.set_class(is_stale(state, link), "-stale")


def banner_of(state: State, link: Link, width: int = 120) -> tuple[Content, str]:
    """The banner's text for lines so wide, and its kind ("" when there is nothing to say)."""
    if link.stage is Stage.STARTING:
        return line(("starting  ", "bold $primary"), (link.detail or "the server", "$foreground")), "starting"
    if link.stage is Stage.SILENT:
        return _silent(link), "stopped"
    if link.stage is Stage.STOPPED:
        return _stopped(link, reached=state.server is not None), "stopped"
    if state.health is not None and not state.health.ok:
        return _etcd_down(state.health.detail or "no reason given", width), "etcd"
    if no_writes := (state.health.alarm if state.health is not None else "") or state.no_space:
        return (
            line(
                ("etcd rejects writes", "bold $warning"),
                (f": {no_writes}", "$foreground"),
                (" — reads continue", "$ink-muted"),
            ),
            "etcd",
        )
    if state.stale:
        return _stale(state.stale_caches), "etcd"
    if state.rewind is not None and state.now - state.rewind.at < REWIND_SECONDS:
        return _rewound(state.rewind), "etcd"
    if state.task_failures:
        return _task_failures(state.task_failures), "server"
    if state.live.problem:
        return _not_scraped(state.live), "server"
    if state.server is not None and state.server.filling:
        return _filling(state.server.filling), "starting"
    if state.server is not None and state.server.warnings:
        phrase = "; ".join(state.server.warnings)
        return line(("careful", "bold $warning"), (f": {phrase}", "$foreground")), "source"
    return Content(""), ""


def _etcd_down(detail: str, width: int) -> Content:
    """With as much of the transport's words as MOST_LINES hold: in a small terminal they cost rows."""
    gist = detail.removeprefix("etcd ").split("; ")[0].split(". ")[0]
    on = " — reads from the watch caches continue, everything else waits"
    texts = [detail, gist, *(f"{gist[:count]}…" for count in range(len(gist) - 1, 0, -8)), "…"]
    for text in texts:
        phrase = line(
            ("etcd does not answer", "bold $warning"), (f": {text}", "$foreground"), (on, "$ink-muted")
        )
        if _height(phrase, width) <= MOST_LINES:
            break
    return phrase


def _height(content: Content, width: int) -> int:
    return len(textwrap.wrap(content.plain, max(1, width), break_on_hyphens=False))


def _rewound(rewind: Rewind) -> Content:
    before, after, when = integer(rewind.before), integer(rewind.after), clock_time(rewind.at)
    if rewind.after < rewind.before:
        what = f"etcd's revision went back from {before} to {after}"
        why = f" at {when}: it was emptied or restored from a backup"
    else:  # only another cluster's revision can be higher and yet another history
        what, why = f"another etcd cluster answers, at revision {after}", f" since {when}, before at {before}"
    return line(
        (what, "bold $warning"),
        (why, "$foreground"),
        (" — controllers and kubelets may cache objects that no longer exist: restart them", "$ink-muted"),
    )


def _task_failures(failures: Sequence[str]) -> Content:
    return line(
        ("a bug in the server", "bold $warning"),
        (f": {'; '.join(failures)}", "$foreground"),
        (" — its log has the details", "$ink-muted"),
    )


def _not_scraped(live: LiveState) -> Content:
    every = f" every {duration(live.status.interval)}" if live.status is not None else ""
    return line(
        ("no new figures", "bold $error"),
        (f": {live.problem}", "$foreground"),
        (f" — tried again{every}", "$ink-muted"),
    )


def _filling(progress: str) -> Content:
    return line(
        ("filling the demo cluster  ", "bold $primary"),
        (progress, "$foreground"),
        (" — its clients start when it is complete", "$ink-muted"),
    )


def _stale(rows: Sequence[CacheRow]) -> Content:
    names = ", ".join(row.resource for row in rows[:NAMED_CACHES])
    more = f" and {len(rows) - NAMED_CACHES} more" if len(rows) > NAMED_CACHES else ""
    since = clock_time(rows[0].cache.stale_since)
    return line(
        (f"{many(len(rows), 'watch cache')} stale", "bold $warning"),
        (f": {names}{more}, no word from etcd since {since}", "$foreground"),
        (" — reads at resourceVersion=0 may be old", "$ink-muted"),
    )


def is_stale(state: State, link: Link) -> bool:
    """Whether there is something on the screen that is not kept up to date."""
    return (link.broken or link.stage is Stage.STARTING) and state.server is not None


def _leave() -> str:
    return f"press {key_of('quit')} to leave"


def _silent(link: Link) -> Content:
    again = "connect again" if link.retries else "restart it"
    help_ = f"press {key_of('restart')} to {again}" if link.restartable else _leave()
    return line(
        ("the server does not answer", "bold $error"),
        (f": {link.detail}, it may be overloaded or frozen ", "$foreground"),
        (f"— wait, or {help_}", "bold $ink-strong"),
    )


def _stopped(link: Link, *, reached: bool) -> Content:
    if link.replays:
        leave = (f"— {_leave()}", "bold $ink-strong")
        return line(("no replay", "bold $error"), f": {link.detail} ", leave)
    what = "the server has stopped" if reached else "the server did not start"
    if link.retries:
        what = "connection lost" if reached else "not attached"
        help_ = f"retrying every few seconds, {key_of('restart')} retries now"
    else:
        help_ = f"press {key_of('restart')} to restart it" if link.restartable else _leave()
    return line(
        (what, "bold $error"),
        (f": {link.detail or 'the connection was closed'} ", "$foreground"),
        (f"— {help_}", "bold $ink-strong"),
    )
