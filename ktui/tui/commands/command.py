"""One command of `:`: its word, its argument, and its action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ktui.tui.dashboard import Dashboard


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible argument of a command, and its description."""

    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A whole line, suggested; `more` is True if something must follow it."""

    text: str
    about: str
    more: bool = False


Run = Callable[[Dashboard, str], str]
Candidates = Callable[[Dashboard], Iterable[Candidate]]


def nothing(app: Dashboard) -> Iterable[Candidate]:
    """Return no candidates, for arguments that cannot be predicted."""
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    """`run` takes the argument and returns an error, "" if there is none.

    `argument` is the argument's name in the help (`NAME`), "" for a command without one; `needed`
    makes it mandatory. `title` is the name in the palette, "" to leave the command out there.
    """

    word: str
    about: str
    run: Run
    argument: str = ""
    needed: bool = False
    candidates: Candidates = nothing
    aliases: tuple[str, ...] = ()
    title: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        return (self.word, *self.aliases)

    @property
    def usage(self) -> str:
        """`theme NAME`, `pods`: the word and the argument's name."""
        return f"{self.word} {self.argument}".rstrip()


def act(action: str) -> Run:
    """Return a `run` that does what a key's action does."""

    def run(app: Dashboard, rest: str) -> str:
        app.call_later(app.run_action, action)
        return ""

    return run
