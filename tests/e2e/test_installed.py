"""What users install: the wheel that `python -m build` makes of the sdist, in an empty environment.

It downloads all dependencies, so it runs only on request: `pytest -m installed`, as CI does.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from ktui import __version__
from tests.e2e.conftest import ROOT, Home
from tests.e2e.terminal import Terminal

pytestmark = [pytest.mark.installed, pytest.mark.timeout(600)]


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(folder: Path, wheels: Sequence[Path]) -> Path:
    """The `bin` of a new environment with nothing but the wheel and what it needs."""
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *wheels, cwd=folder)
    return folder / "bin"


def test_the_wheel_works_in_an_empty_environment(tmp_path: Path, terminal: Terminal, home: Home) -> None:
    made = tmp_path / "dist"
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", made, ROOT, cwd=tmp_path)
    assert len(list(made.glob("*.tar.gz"))) == 1
    there = installed(tmp_path / "environment", list(made.glob("*.whl")))
    for command in ("ktui", "kubectl-ktui"):
        assert run(there / command, "--version", cwd=tmp_path) == f"ktui {__version__}\n"
    assert "c.consistent" in run(there / "ktui", "explain", "/api/v1/pods", cwd=tmp_path)
    hint = "from ktui import install_command; print(install_command('web'))"
    assert run(there / "python", "-c", hint, cwd=tmp_path) == "pip install 'ktui-explorer[web]'\n"
    environment = {name: value for name, value in home.environment.items() if name != "PYTHONPATH"}
    terminal.run(f"cd {tmp_path} && {there}/ktui --pods 40 --nodes 4 --namespaces 6", environment)
    terminal.wait_for(lambda screen: "1 Overview" in screen, "the first frame")
    terminal.wait_for(lambda screen: "● pods" in screen, "live data")
    terminal.type("q")
    terminal.wait_for(lambda screen: screen.rstrip().endswith("ready$"), "the shell's prompt again")
