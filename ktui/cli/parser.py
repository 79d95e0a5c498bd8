"""An argparse parser with one-line errors: the usage of twenty lines would hide the error."""

from __future__ import annotations

import argparse
import difflib
import re
from typing import NoReturn

from ktui.cli.exit_codes import USAGE, fail

_UNKNOWN = re.compile(r"unrecognized arguments: (\S+)")


class Parser(argparse.ArgumentParser):
    """ArgumentParser with one-line errors and suggestions; also used for subcommands."""

    def error(self, message: str) -> NoReturn:
        text = message.removeprefix("argument ")
        if unknown := _UNKNOWN.match(message):
            text = self._unknown(unknown[1])
        self.exit(fail(f"{text}; `{self.prog} --help` for details", USAGE))

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"{word!r} is an unexpected argument"
        options = [option for action in self._actions for option in action.option_strings]
        close = difflib.get_close_matches(word.partition("=")[0], options, n=1)
        return f"there is no option {word}" + (f", did you mean {close[0]}?" if close else "")
