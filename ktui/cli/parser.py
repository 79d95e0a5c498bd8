"""An argparse parser with one-line errors: the usage of twenty lines would hide the error."""

from __future__ import annotations

import argparse
import difflib
import re
from typing import NoReturn

from ktui.cli.exit_codes import USAGE, fail

ALIKE = 0.7  # of two words: a letter more or less, or two in another order
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
        options = {o.lstrip("-"): o for action in self._actions for o in action.option_strings}
        # Without the dashes, which all have in common.
        close = difflib.get_close_matches(word.partition("=")[0].lstrip("-"), options, n=1, cutoff=ALIKE)
        return f"there is no option {word}" + (f", did you mean {options[close[0]]}?" if close else "")
