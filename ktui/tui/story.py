"""F9, `ktui --story`: a tour of six steps through the cost of LISTs, each with a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from ktui.core.references import CompareRef, Place, Read, Selection
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.rules import switch_rules
from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import line

if TYPE_CHECKING:
    from ktui.tui.lab.screen import LabScreen

PODS = "/api/v1/pods"
SERVICES = "/api/v1/services"  # rarely change, so their cache is usually behind etcd
ROUNDS, ROUND = 40, 0.05  # how often and after how many seconds a condition is checked: 2 s at most
Act = Callable[[Dashboard], Awaitable[None]]


class StoryStep(NamedTuple):
    """A sentence, and what its key does."""

    sentence: str
    act: Act


def _compare(sentence: str, original: str, variant: str, change: str, path: str = PODS) -> StoryStep:
    compared = CompareRef(
        Selection("LIST", path + original, "the tour"), Selection("LIST", path + variant, "the tour"), change
    )

    async def show(app: Dashboard) -> None:
        app.go_to(Place("lab", compared))

    return StoryStep(sentence, show)


async def _two_versions(app: Dashboard) -> None:
    """Send one LIST under the rules of 1.30 and of 1.31, then restore the server's own."""
    server = app.state.server
    if server is None:
        return
    await app.switch_mode("lab")
    lab = _lab(app)
    if lab is None:
        return
    lab.visit(Read(Selection("LIST", PODS, "the tour")))
    try:
        for version in ("1.30", "1.31"):
            await switch_rules(app, version, {})
            await _until(partial(_follows, app, version))
            await lab.send_once(f"under {version}")
    finally:
        await switch_rules(app, server.kube_version, server.feature_gates)


def _follows(app: Dashboard, version: str) -> bool:
    """True once telemetry names the version, which predictions follow."""
    return app.state.server is not None and app.state.server.kube_version == version


def _lab(app: Dashboard) -> LabScreen | None:
    from ktui.tui.lab.screen import LabScreen  # start-up time

    return app.screen if isinstance(app.screen, LabScreen) else None


async def _until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, for ROUNDS at most."""
    for _ in range(ROUNDS):
        if holds():
            return
        await asyncio.sleep(ROUND)


STEPS: Sequence[StoryStep] = (
    _compare("A LIST without resourceVersion asks etcd for the newest revision first; resourceVersion=0 "
             "takes the cache as it is", "", "?resourceVersion=0", "rv=0"),
    _compare("A label selector filters after the read: fewer objects are sent, as many are scanned",
             "?resourceVersion=0", "?resourceVersion=0&labelSelector=tier%3Dbackend", "with selector"),
    _compare("limit is ignored at resourceVersion=0: everything comes at once",
             "?limit=500", "?limit=500&resourceVersion=0", "limit at rv=0"),
    _compare("Pages make each response small; all pages together read no less, and take more requests",
             "", "?limit=500", "pages of 500"),
    StoryStep("The same LIST under 1.30 is read from etcd, under 1.31 from the cache; the server switches "
              "live", _two_versions),
    _compare("A cache of objects that rarely change is behind etcd (3 shows how far): a LIST without "
             "resourceVersion waits until it has caught up, resourceVersion=0 does not",
             "", "?resourceVersion=0", "not waiting", SERVICES),
)  # fmt: skip


class Story:
    """The tour's current step: 0 before the first, len(STEPS) + 1 after the last.

    `busy` says what a step that has begun still waits for; the next one is offered when it has ended.
    """

    def __init__(self, *, offered: bool) -> None:
        self._place = 0
        self._offered = offered
        self.busy = ""

    @property
    def active(self) -> bool:
        """True from the first key to the end of the last step: then no other banner may hide it."""
        return bool(self._place or self.busy) and self._place <= len(STEPS)

    @property
    def text(self) -> Content | None:
        """`tour 2/6  A label selector … · F9 next`; None if there is no step to show."""
        key = key_of("story.next")
        if self._place > len(STEPS) or not (self._place or self.busy or self._offered):
            return None
        if not self._place and not self.busy:
            hides = ((" · ", "$ink-faint"), (key_of("story.dismiss"), "$accent"), " hides this line")
            return line((key, "$accent"), ": a tour in two minutes: what LISTs cost", *hides)
        place = f"tour {max(1, self._place)}/{len(STEPS)}  "
        sentence = STEPS[self._place - 1].sentence if self._place else "six steps through what LISTs cost"
        if self.busy:
            return line((place, "bold $primary"), sentence, (f" · {self.busy}", "$ink-muted"))
        ends = (" · ", (key, "$accent"), " ends" if self._place == len(STEPS) else " next")
        return line((place, "bold $primary"), sentence, *ends)

    def dismiss(self) -> None:
        self._offered = False

    async def next(self, app: Dashboard) -> None:
        """Run the next step to its end; after the last, show none, then start again."""
        if self.busy:
            return
        try:
            # Until the demo cluster is complete: figures of a part of it would differ from step to step.
            first = self._place in (0, len(STEPS) + 1)
            while first and app.state.server is not None and app.state.server.filling:
                self.busy = "begins when the demo cluster is complete"  # the banner below says how far it is
                app.paint_link()
                await asyncio.sleep(ROUND)
            self._place = self._place % (len(STEPS) + 1) + 1
            if self._place <= len(STEPS):
                self.busy = "measuring"
                app.paint_link()
                await STEPS[self._place - 1].act(app)
                await _until(lambda: (lab := _lab(app)) is not None and lab.sending)
                if (lab := _lab(app)) is not None:
                    await lab.finish_sending()
        finally:
            self.busy = ""
            app.paint_link()
