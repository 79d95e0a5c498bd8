"""By whose rules the logs of an audit are ranked."""

from __future__ import annotations

from dataclasses import replace

from ktui.audit.versions import settable
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour
from ktui.tui.audit.ranker import Ranker
from ktui.tui.audit.rules import AuditRules
from ktui.tui.audit.view import behaviour_in
from ktui.tui.screens.base import ModeScreen


class Choosing:
    """Has what was read ranked anew. Nothing can be chosen before there is a report."""

    def __init__(self, screen: ModeScreen, ranker: Ranker) -> None:
        self._screen = screen
        self._ranker = ranker

    def ask(self) -> None:
        """Choose a version and its gates in a dialog."""
        report = self._ranker.report
        if report is not None:
            self._screen.app.push_screen(AuditRules(behaviour_in(report), report), self._follow)

    def choose(self, version: str) -> None:
        """The rules of another version, with those of the gates that it lets be set."""
        wish = self._ranker.wish
        self._ranker.rank(replace(wish, kube_version=version, gates=settable(version, wish.gates)))

    def step(self, step: int) -> None:
        """The version `step` places on, where one is known."""
        report = self._ranker.report
        if report is not None:
            place = KNOWN_VERSIONS.index(f"1.{behaviour_in(report).minor}") + step
            if 0 <= place < len(KNOWN_VERSIONS):
                self.choose(KNOWN_VERSIONS[place])

    def _follow(self, chosen: Behaviour | None) -> None:
        if chosen is not None:
            wish = self._ranker.wish
            self._ranker.rank(replace(wish, kube_version=chosen.version, gates=chosen.changed_gates))
