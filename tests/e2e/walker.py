"""Walking through the program by keys: each must bring something specific onto the screen."""

from __future__ import annotations

import re

from tests.e2e.terminal import HANGS, Terminal, eventually

BROKEN = re.compile(r"Traceback|MarkupError")


class Walker:
    """Presses keys and waits for what they bring; the first that brings nothing fails with its screen."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def press(self, *keys: str, sees: str | tuple[str, ...] = (), loses: str = "") -> str:
        """Press, and read the screen once it holds every text of `sees`, and `loses` no more.

        It must not have been so before: a key that does nothing would go unnoticed.
        """
        wanted = (sees,) if isinstance(sees, str) else sees

        def holds(screen: str) -> bool:
            seen = re.sub(" +", " ", screen)  # columns may be wider
            return all(text in seen for text in wanted) and not (loses and loses in seen)

        before = self._terminal.screen()
        assert not holds(before), f"{keys}: {wanted or f'no {loses}'!r} was there before:\n{before}"
        self._terminal.type(*keys)
        screen = self._terminal.wait_for(
            lambda screen: holds(screen) or bool(BROKEN.search(screen)),
            f"{wanted!r}{f', or still saw {loses!r}' if loses else ''} after {' '.join(keys)}",
            HANGS,
        )
        assert not BROKEN.search(screen), screen
        return screen

    def recolour(self, key: str) -> None:
        """Press a key that changes nothing but the colours."""
        before = self._terminal.colours()
        self._terminal.type(key)
        assert eventually(lambda: not before & self._terminal.colours(), HANGS), before

    def type(self, text: str, *, sees: str | tuple[str, ...], loses: str = "") -> str:
        """Type letter by letter: no word of `text` is taken for the name of a key."""
        return self.press("-l", text, sees=sees, loses=loses)
