"""`ktui --story`: six steps through what LISTs cost, each a sentence and the same key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content

from ktui.core.references import CompareRef, Place, Read, Reference, ResourceRef
from ktui.core.selection import Selection
from ktui.tui.dashboard import Dashboard
from ktui.tui.keys.hints import key_of
from ktui.tui.switching import switch_rules
from ktui.tui.widgets.lines import line

PODS = "/api/v1/pods"
ROUNDS, ROUND = 40, 0.05  # seconds: 2 s at most
Act = Callable[[Dashboard], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One sentence, and what its key does."""

    sentence: str
    act: Act


async def _show(mode: str, reference: Reference, app: Dashboard) -> None:
    app.go_to(Place(mode, reference))


def _compare(sentence: str, original: str, variant: str, change: str) -> StoryStep:
    compared = CompareRef(
        Selection("LIST", PODS + original, "the story"),
        Selection("LIST", PODS + variant, "the story"),
        change,
    )
    return StoryStep(sentence, partial(_show, "lab", compared))


async def _two_versions(app: Dashboard) -> None:
    """Send one LIST under the rules of 1.30 and of 1.31; the server then follows its own again."""
    from ktui.tui.lab.screen import LabScreen  # start-up time

    server = app.state.server
    if server is None:
        return
    await app.switch_mode("lab")
    screen = app.screen
    if not isinstance(screen, LabScreen):
        return
    screen.visit(Read(Selection("LIST", PODS, "the story")))
    for version in ("1.30", "1.31"):
        await switch_rules(app, version, {})
        await _followed(app, version)
        await screen.sending.send_once(f"under {version}")
    await switch_rules(app, server.kube_version, server.feature_gates)


async def _followed(app: Dashboard, version: str) -> None:
    """Wait until the server's telemetry names the version: predictions are made by it."""
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
        "Pages hold less memory at a time, and take more requests",
        "",
        "?limit=500",
        "pages of 500",
    ),
    StoryStep(
        "The same LIST under 1.30 is read from etcd, under 1.31 from the cache; the server switches live",
        _two_versions,
    ),
    StoryStep(
        "A cache can be behind etcd (RV, behind); a consistent read waits until it has caught up",
        partial(_show, "cache", ResourceRef("")),
    ),
)


class Story:
    """Which step is shown."""

    def __init__(self) -> None:
        self._place = -1

    @property
    def text(self) -> Content:
        """`story 2/6  A label selector … · f9 next`."""
        key = key_of("story.next")
        if self._place < 0:
            begin = f"{len(STEPS)} steps through what LISTs cost · "
            return line(("story  ", "bold $primary"), begin, (key, "$accent"), " begins")
        place = f"story {self._place + 1}/{len(STEPS)}  "
        last = self._place + 1 == len(STEPS)
        ends = (" · ", (key, "$accent"), " from the beginning" if last else " next")
        return line((place, "bold $primary"), STEPS[self._place].sentence, *ends)

    async def next(self, app: Dashboard) -> None:
        """The next step; after the last the first one."""
        self._place = (self._place + 1) % len(STEPS)
        await STEPS[self._place].act(app)
