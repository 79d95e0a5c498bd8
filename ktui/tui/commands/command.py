"""A command of `:`: its word, its action, and its argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ktui.tui.dashboard import Dashboard


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may stand after a command's word, and what it is."""

    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A whole line that may be meant. `more`: something has still to follow before it makes sense."""

    text: str
    about: str
    more: bool = False


Run = Callable[[Dashboard, str], str]
Candidates = Callable[[Dashboard], Iterable[Candidate]]


def nothing(app: Dashboard) -> Iterable[Candidate]:
    """For a command whose argument cannot be predicted."""
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    """`run` gets what stands after the word and returns what is wrong with it, "" when nothing is.

    `argument` is what the help calls that (`NAME`); "" for a command that takes none. `needed`:
    without it the command says nothing. `title` is its name in the palette, "" for none.
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
        """`theme NAME`, `pods`."""
        return f"{self.word} {self.argument}".rstrip()


def act(action: str) -> Run:
    """A command that does what a key does."""

    def run(app: Dashboard, rest: str) -> str:
        app.call_later(app.run_action, action)
        return ""

    return run
