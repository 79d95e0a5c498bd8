"""The banner when the dashboard gets no data: the reason, and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from ktui.core.format import clock_time, duration, integer, many
from ktui.core.state import CacheRow, Rewind, State
from ktui.tui.keys.hints import key_of
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.lines import line, longest_that_fits

REWIND_SECONDS = 300.0  # how long the banner reports that etcd's history was replaced

MOST_LINES = 2  # of the banner's text
NAMED_CACHES = 3  # stale caches that are named; the rest are counted
FRAME = 5  # cells that the border and the padding take


class Banner(Static):
    """A line or two above the screen; hidden while there is nothing to report."""

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
        self._phrase: tuple[Content, str] = (Content(""), "")

    @property
    def text(self) -> str:
        """The text shown; "" while the banner is hidden."""
        return self._phrase[0].plain

    def show_link(
        self, state: State, link: Link, otherwise: Content | None = None, *, always: bool = False
    ) -> None:
        """Show what is wrong; if nothing is, show `otherwise`, and without it hide.

        With `always`, show `otherwise` first and what is wrong below it.
        """
        phrase = banner_of(state, link, self.screen.size.width - FRAME)
        if otherwise is not None and not phrase[1]:
            phrase = otherwise, "starting"
        elif otherwise is not None and always:
            phrase = Content("\n").join([otherwise, phrase[0]]), phrase[1]
        if phrase == self._phrase:
            return
        self._phrase = phrase
        content, kind = phrase
        self.update(content)
        kinds = {"-stopped": kind == "stopped", "-starting": kind == "starting"}
        self.update_classes({"-shown": bool(kind), **kinds})
        # Mark outdated data by more than its colour.
        self.screen.set_class(is_stale(state, link), "-stale")


def banner_of(state: State, link: Link, width: int = 120) -> tuple[Content, str]:
    """Return the banner's text for lines of `width` cells, and its kind ("" for no banner).

    The kind is "starting", "stopped" (no connection), "etcd", "server" or "source".
    """
    if link.stage is Stage.STARTING:
        return line(("starting  ", "bold $primary"), (link.detail or "the server", "$foreground")), "starting"
    if link.stage is Stage.SILENT:
        return _silent(link), "stopped"
    if link.stage is Stage.STOPPED:
        return _stopped(link, reached=state.server is not None), "stopped"
    if state.health is not None and not state.health.ok:
        return _etcd_down(state.health.detail or "no reason given", width), "etcd"
    if no_writes := (state.health.alarm if state.health is not None else "") or state.no_space:
        return _sentence("etcd rejects writes", f": {no_writes}", " — reads continue"), "etcd"
    if state.stale:
        return _stale(state.stale_caches), "etcd"
    if state.rewind is not None and state.now - state.rewind.at < REWIND_SECONDS:
        return _rewound(state.rewind), "etcd"
    if state.task_failures:
        failures = "; ".join(state.task_failures)
        return _sentence("a bug in the server", f": {failures}", " — its log has the details"), "server"
    if (live := state.live).problem:
        every = f" every {duration(live.status.interval)}" if live.status is not None else ""
        said = _sentence("no new figures", f": {live.problem}", f" — tried again{every}", "$error")
        return said, "server"
    if state.server is not None and state.server.filling:
        return _filling(state.server.filling, width), "starting"
    if state.server is not None and state.server.warnings:
        return _sentence("careful", f": {'; '.join(state.server.warnings)}"), "source"
    return Content(""), ""


def _sentence(
    what: str, why: str, then: str = "", loud: str = "$warning", style: str = "$ink-muted"
) -> Content:
    """Return a text of three parts: what is wrong, why or since when, and what it means or what to do."""
    return line((what, f"bold {loud}"), (why, "$foreground"), (then, style))


def _etcd_down(detail: str, width: int) -> Content:
    """Shorten `detail` until the banner fits in MOST_LINES."""
    summary = detail.removeprefix("etcd ").split("; ")[0].split(". ")[0]
    on = " — reads from the watch caches continue, everything else waits"
    texts = [detail, summary, *(f"{summary[:count]}…" for count in range(len(summary) - 1, 0, -8)), "…"]
    for text in texts:
        phrase = _sentence("etcd does not answer", f": {text}", on)
        if len(textwrap.wrap(phrase.plain, max(1, width), break_on_hyphens=False)) <= MOST_LINES:
            break
    return phrase


def _rewound(rewind: Rewind) -> Content:
    before, after, when = integer(rewind.before), integer(rewind.after), clock_time(rewind.at)
    if rewind.after < rewind.before:
        what = f"etcd's revision went back from {before} to {after}"
        why = f" at {when}: it was emptied or restored from a backup"
    else:  # a higher revision with another history: a different cluster
        what, why = f"another etcd cluster answers, at revision {after}", f" since {when}, before at {before}"
    stale = " — controllers and kubelets may cache objects that no longer exist: restart them"
    return _sentence(what, why, stale)


def _filling(progress: str, width: int) -> Content:
    done = line(("filling the demo cluster  ", "bold $primary"), (progress, "$foreground"))
    return longest_that_fits(
        [done + line((" — its clients start after the pods", "$ink-muted")), done], width
    )


def _stale(rows: Sequence[CacheRow]) -> Content:
    names = ", ".join(row.resource for row in rows[:NAMED_CACHES])
    more = f" and {len(rows) - NAMED_CACHES} more" if len(rows) > NAMED_CACHES else ""
    since = clock_time(rows[0].cache.stale_since)
    why = f": {names}{more}, no word from etcd since {since}"
    caches = many(len(rows), "watch cache")
    return _sentence(f"{caches} stale", why, " — reads at resourceVersion=0 may be old")


def is_stale(state: State, link: Link) -> bool:
    """Return True if the screen shows data that is no longer updated."""
    return (link.broken or link.stage is Stage.STARTING) and state.server is not None


def _quit_hint() -> str:
    return f"press {key_of('quit')} to leave"


def _silent(link: Link) -> Content:
    again = "connect again" if link.retries else "restart it"
    help_ = f"press {key_of('restart')} to {again}" if link.restartable else _quit_hint()
    why = f": {link.detail}, it may be overloaded or frozen "
    return _sentence("the server does not answer", why, f"— wait, or {help_}", "$error", "bold $ink-strong")


def _stopped(link: Link, *, reached: bool) -> Content:
    if link.replays:
        leave = (f"— {_quit_hint()}", "bold $ink-strong")
        return line(("no replay", "bold $error"), f": {link.detail} ", leave)
    what = "the server has stopped" if reached else "the server did not start"
    if link.retries:
        what = "connection lost" if reached else "not attached"
        help_ = f"retrying every few seconds, {key_of('restart')} retries now"
    else:
        again = "to restart it" if reached else "to try again"
        help_ = f"press {key_of('restart')} {again}" if link.restartable else _quit_hint()
    why = f": {link.detail or 'the connection was closed'} "
    return _sentence(what, why, f"— {help_}", "$error", "bold $ink-strong")
