"""F9, `ktui --story`: six steps through the cost of LISTs, each with a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content

from ktui.core.references import CompareRef, Place, Read
from ktui.core.selection import Selection
from ktui.tui.dashboard import Dashboard
from ktui.tui.keys.hints import key_of
from ktui.tui.switching import switch_rules
from ktui.tui.widgets.lines import line

PODS = "/api/v1/pods"
SERVICES = "/api/v1/services"  # rarely change, so their cache is usually behind etcd
ROUNDS, ROUND = 40, 0.05  # how often and after how many seconds a condition is checked: 2 s at most
Act = Callable[[Dashboard], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class StoryStep:
    """A sentence, and what its key does."""

    sentence: str
    act: Act


async def _show(compared: CompareRef, app: Dashboard) -> None:
    app.go_to(Place("lab", compared))


def _compare(sentence: str, original: str, variant: str, change: str, path: str = PODS) -> StoryStep:
    compared = CompareRef(
        Selection("LIST", path + original, "the story"),
        Selection("LIST", path + variant, "the story"),
        change,
    )
    return StoryStep(sentence, partial(_show, compared))


async def _two_versions(app: Dashboard) -> None:
    """Send one LIST under the rules of 1.30 and of 1.31, then restore the server's own."""
    from ktui.tui.lab.screen import LabScreen  # start-up time

    server = app.state.server
    if server is None:
        return
    await app.switch_mode("lab")
    screen = app.screen
    if not isinstance(screen, LabScreen):
        return
    screen.visit(Read(Selection("LIST", PODS, "the story")))
    try:
        for version in ("1.30", "1.31"):
            await switch_rules(app, version, {})
            await _followed(app, version)
            await screen.sending.send_once(f"under {version}")
    finally:
        await switch_rules(app, server.kube_version, server.feature_gates)


async def _followed(app: Dashboard, version: str) -> None:
    """Wait until telemetry names the version, which predictions follow."""
    for _ in range(ROUNDS):
        if app.state.server is not None and app.state.server.kube_version == version:
            return
        await asyncio.sleep(ROUND)


STEPS: Sequence[StoryStep] = (
    _compare(
        "A LIST without resourceVersion asks etcd for the newest revision first; resourceVersion=0 takes the "
        "cache as it is",
        "",
        "?resourceVersion=0",
        "resourceVersion=0",
    ),
    _compare(
        "A label selector filters after the read: fewer objects are sent, as many are scanned",
        "?resourceVersion=0",
        "?resourceVersion=0&labelSelector=tier%3Dbackend",
        "with a selector",
    ),
    _compare(
        "limit is ignored at resourceVersion=0: everything comes at once",
        "?limit=500",
        "?limit=500&resourceVersion=0",
        "limit at rv=0",
    ),
    _compare(
        "Pages make each response small; all pages together read no less, and take more requests",
        "",
        "?limit=500",
        "pages of 500",
    ),
    StoryStep(
        "The same LIST under 1.30 is read from etcd, under 1.31 from the cache; the server switches live",
        _two_versions,
    ),
    _compare(
        "A cache of objects that rarely change is behind etcd (3 shows how far): a LIST without "
        "resourceVersion waits until it has caught up, resourceVersion=0 does not",
        "",
        "?resourceVersion=0",
        "without waiting",
        SERVICES,
    ),
)


class Story:
    """The current step: 0 before the first, len(STEPS) + 1 after the last."""

    def __init__(self, *, offered: bool) -> None:
        self._place = 0
        self._offered = offered

    @property
    def text(self) -> Content | None:
        """`story 2/6  A label selector … · f9 next`; None if there is no step to show."""
        key = key_of("story.next")
        if self._place > len(STEPS) or not (self._place or self._offered):
            return None
        if not self._place:
            begin = f"{len(STEPS)} steps through what LISTs cost · "
            return line(("story  ", "bold $primary"), begin, (key, "$accent"), " begins")
        place = f"story {self._place}/{len(STEPS)}  "
        ends = (" · ", (key, "$accent"), " ends" if self._place == len(STEPS) else " next")
        return line((place, "bold $primary"), STEPS[self._place - 1].sentence, *ends)

    async def next(self, app: Dashboard) -> None:
        """Run the next step; after the last, show none, then start again."""
        self._place = self._place % (len(STEPS) + 1) + 1
        if self._place <= len(STEPS):
            await STEPS[self._place - 1].act(app)
