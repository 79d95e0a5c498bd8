"""A reader that closes the pipe is no error."""

from __future__ import annotations

import io

import pytest

from ktui.cli import main
from ktui.cli.printing import Printer


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_closed_pipe_is_left_to_main() -> None:
    with pytest.raises(BrokenPipeError):
        Printer(file=Closed()).print("more than the terminal takes")


def test_main_ends_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(arguments: list[str]) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(main, "_run", broken)
    monkeypatch.setattr(main.os, "dup2", lambda here, there: None)
    assert main.main(["list", "/api/v1/pods"]) == 0
