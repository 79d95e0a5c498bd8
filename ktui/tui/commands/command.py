"""One command of `:`: its word, its argument, and its action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ktui.contract.recording import RecordingError
from ktui.core.table.filter import FilterError
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import BehaviourError
from ktui.tui.dashboard import Dashboard
from ktui.tui.prompt.prompt import Suggestion


class CommandError(ValueError):
    """A command cannot be run: one sentence."""


Action = Callable[[Dashboard, str], str | None]
Candidates = Callable[[Dashboard], Iterable[Suggestion]]  # possible arguments


@dataclass(frozen=True, slots=True)
class Command:
    """`action` takes the argument; it returns or raises what is wrong.

    `argument` is the argument's name in the help (`NAME`), "" for a command without one; `needed`
    makes it mandatory. `title` is the name in the palette, "" to leave the command out there.
    """

    word: str
    about: str
    action: Action
    argument: str = ""
    needed: bool = False
    candidates: Candidates = lambda app: ()
    aliases: tuple[str, ...] = ()
    title: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        return (self.word, *self.aliases)

    @property
    def usage(self) -> str:
        """`theme NAME`, `pods`: the word and the argument's name."""
        return f"{self.word} {self.argument}".rstrip()

    def run(self, app: Dashboard, rest: str) -> str:
        """Run the command with an argument. Return an error, "" if there is none."""
        try:
            return self.action(app, rest) or ""
        except (CommandError, BehaviourError, FilterError, RecordingError, RequestError) as error:
            return str(error)


def act(action: str) -> Action:
    """Return the action of a key."""

    def run(app: Dashboard, rest: str) -> None:
        app.call_later(app.run_action, action)

    return run
