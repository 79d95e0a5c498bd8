"""Completion scripts, by the shells themselves where they are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ktui.cli.completion import SHELLS
from ktui.cli.main import COMMANDS, main

pytestmark = pytest.mark.slow


@pytest.fixture
def bin_directory(tmp_path: Path, nobodys_settings: Path) -> Path:
    """A directory with a `ktui` to run, and a config file with contexts."""
    nobodys_settings.parent.mkdir(parents=True)
    nobodys_settings.write_text("[contexts.production]\netcd = 'h:1'\n[contexts.staging]\netcd = 'h:1'\n")
    directory = tmp_path / "bin"
    directory.mkdir()
    (directory / "ktui").write_text(f'#!/bin/sh\nexec {sys.executable} -m ktui "$@"\n')
    (directory / "ktui").chmod(0o755)
    return directory


def bash(directory: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f'eval "$(ktui completion bash)"; COMP_WORDS=(ktui {quoted}); COMP_CWORD={len(words)}; '
        'COMP_LINE="ktui $*"; _shtab_ktui ktui "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=os.environ | {"PATH": f"{directory}:{os.environ['PATH']}", "KUBECONFIG": "/nowhere"},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("",), set(COMMANDS)),
        (("expl",), {"explain"}),
        (("--th",), {"--theme"}),
        (("--theme", "ktui-l"), {"ktui-light"}),
        (("--context", "prod"), {"production"}),
        (("serve", "--context", ""), {"production", "staging"}),
        (("explain", "--kube-version", "1.2"), {f"1.{minor}" for minor in range(20, 30)}),
        (("list", "--all"), {"--all-pages"}),
        (("completion", ""), set(SHELLS)),
        (("--log-level", "w"), {"warning"}),
    ],
)
def test_bash_offers(bin_directory: Path, words: tuple[str, ...], offered: set[str]) -> None:
    found = {word for word in bash(bin_directory, *words) if words[-1] or not word.startswith("-")}
    assert offered <= found
    assert found == offered or not words[-1]


@pytest.mark.parametrize(("shell", "check"), [("zsh", ["-n"]), ("fish", ["--no-execute"]), ("bash", ["-n"])])
def test_the_shell_itself_can_read_it(
    shell: str, check: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    subprocess.run([shell, *check, str(script)], check=True, timeout=60)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_script_knows_every_command_and_asks_for_names(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in COMMANDS)
    assert all(f"--words {kind}" in script for kind in ("themes", "contexts", "kube-versions"))


def test_a_shell_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion"]) == 2
    assert "ktui completion bash|zsh|fish" in capsys.readouterr().err
