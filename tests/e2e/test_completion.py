"""Completion as a person has it: typed into the shells themselves."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.conftest import Home
from tests.e2e.terminal import Terminal

pytestmark = [pytest.mark.terminal, pytest.mark.timeout(600)]

# How each is started without a user's settings, and given the script.
SHELLS = {
    "bash": ("bash --norc --noprofile", "source {script}"),
    "zsh": ("zsh -f", "fpath=({folder} $fpath); autoload -U compinit; compinit -u -D"),
    "zsh, sourced": ("zsh -f", "autoload -U compinit; compinit -u -D; source <(ktui completion zsh)"),
    "fish": ("fish --no-config", "source {script}"),
}
# What is typed before Tab, and what the line is then.
LINES = [
    ("ktui expl", "ktui explain"),
    ("ktui recording sh", "ktui recording share"),
    ("ktui --th", "ktui --theme"),
    ("ktui --theme ktui-l", "ktui --theme ktui-light"),
    ("ktui --context prod", "ktui --context production"),
    ("ktui --log-level w", "ktui --log-level warning"),
    ("ktui --replay inc", "ktui --replay incident.ndjson.gz"),
    ("ktui recording info inc", "ktui recording info incident.ndjson.gz"),
    ("ktui serve --warm deployments", "ktui serve --warm deployments.apps"),
    ("ktui list /apis/apps/v1/dep", "ktui list /apis/apps/v1/deployments"),
    ("ktui bench cil", "ktui bench cilium-agent"),
]


@pytest.fixture
def ready(home: Home) -> Home:
    """A `ktui` on PATH, a context, and a recording to name."""
    (home.path / "bin").mkdir()
    program = home.path / "bin" / "ktui"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ktui "$@"\n')
    program.chmod(0o755)
    config = home.path / "config" / "ktui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[contexts.production]\netcd = 'h:1'\n")
    (home.path / "work").mkdir()
    (home.path / "work" / "incident.ndjson.gz").touch()
    return home


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes(terminal: Terminal, ready: Home, shell: str) -> None:
    command, load = SHELLS[shell]
    shell = command.split()[0]
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on PATH")
    script = ready.path / "_ktui"  # by this name zsh finds it
    path = f"{ready.path / 'bin'}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    environment = ready.environment | {"PATH": path, "KUBECONFIG": "/nowhere", "HISTFILE": "/dev/null"}
    make = f"ktui completion {shell} > {script}"
    terminal.run(f"cd {ready.path / 'work'}; {make} && exec {command}", environment)
    terminal.type(f"{load.format(script=script, folder=ready.path)}; clear; echo loa''ded", "Enter")
    terminal.wait_for(lambda screen: prompts(screen.partition("loaded")[2]), "the shell with its script")
    for typed, completed in LINES:
        terminal.type("-l", typed)
        terminal.wait_for(partial(shows, typed), typed)
        terminal.type("Tab")
        terminal.wait_for(partial(shows, completed), completed)
        terminal.type("C-u")
        terminal.type("-l", "clear")
        terminal.wait_for(lambda screen: "clear" in screen, "the line gone, and another")
        terminal.type("Enter")
        terminal.wait_for(prompts, "an empty screen")


def prompts(screen: str) -> bool:
    """Whether there is a prompt and nothing else: a Tab before that would be lost."""
    return bool(screen.strip()) and "ktui" not in screen and "clear" not in screen


def shows(line: str, screen: str) -> bool:
    """Whether the line that is typed has come so far; offers may stand below it, and a comma follow."""
    lines = [each.rstrip() for each in screen.splitlines() if "ktui " in each]
    return bool(lines) and line in lines[0]
