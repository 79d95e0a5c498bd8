"""`--token` and `--token-file`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from ktui.cli.effective_options import parse
from ktui.cli.main import COMMANDS, parser_of
from ktui.config.errors import ConfigError

WARNING = "ktui: warning: every user of this machine can read --token (ps): use --token-file or KTUI_TOKEN\n"


def parsed(*words: str, command: str = "serve") -> argparse.Namespace:
    name = "" if command == "dashboard" else command
    return parse(parser_of(name), words, command, os.environ)


@pytest.fixture
def file(tmp_path: Path, nobodys_settings: Path) -> Path:
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text("s3cret\n")
    return path


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("dashboard", ()),
        ("serve", ()),
        ("web", ()),
        ("list", ("/api/v1/pods",)),
        ("bench", ("/api/v1/pods",)),
        ("seed", ()),
        ("audit", ("log",)),
    ],
)
def test_every_command_with_a_token_takes_it_from_a_file(
    file: Path, capsys: pytest.CaptureFixture[str], command: str, words: tuple[str, ...]
) -> None:
    assert parsed(*words, "--token-file", str(file), command=command).token == "s3cret"
    assert capsys.readouterr().err == ""


def test_no_command_has_only_the_one_option() -> None:
    for name in ("", *COMMANDS):
        usage = parser_of(name).format_help()
        assert ("--token " in usage) == ("--token-file " in usage), name


def test_a_token_on_the_command_line_is_warned_of(
    nobodys_settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert parsed("--token", "s3cret").token == "s3cret"
    assert capsys.readouterr().err == WARNING
    assert parsed().token == ""
    assert capsys.readouterr().err == ""


def test_a_file_comes_before_a_context(file: Path, nobodys_settings: Path) -> None:
    nobodys_settings.parent.mkdir(parents=True)
    nobodys_settings.write_text('[contexts.c]\nattach = "https://127.0.0.1:6443"\ntoken = "other"\n')
    nobodys_settings.chmod(0o600)
    words = ("--context", "c")
    assert parsed(*words, command="dashboard").token == "other"
    assert parsed(*words, "--token-file", str(file), command="dashboard").token == "s3cret"


def test_both_exclude_each_other(file: Path) -> None:
    with pytest.raises(ConfigError, match="--token and --token-file exclude each other: leave out --token"):
        parsed("--token", "a", "--token-file", str(file))


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_file_that_others_can_use_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(ConfigError) as refused:
        parsed("--token-file", str(file))
    assert str(refused.value) == (
        f"--token-file {file} has mode {mode:04o}, others can use it: chmod 600 {file}"
    )


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"two words", b"two\nlines", b"\xff\xfe", b"a\x1b[31m", b"x" * 70_000]
)
def test_what_is_no_token(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        parsed("--token-file", str(file))
    assert str(refused.value) == (
        f"--token-file {file} does not hold a token: one line of letters, digits and signs"
    )


def test_a_file_that_is_missing(tmp_path: Path, nobodys_settings: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        parsed("--token-file", str(tmp_path / "none"))
    assert str(refused.value) == f"cannot read --token-file {tmp_path / 'none'}: No such file or directory"


def test_a_pipe_will_do(tmp_path: Path, nobodys_settings: Path) -> None:
    """As shells make one: `--token-file <(pass ktui)`."""
    reading, writing = os.pipe()
    os.write(writing, b"s3cret")
    os.close(writing)
    assert parsed("--token-file", f"/dev/fd/{reading}").token == "s3cret"
    os.close(reading)
