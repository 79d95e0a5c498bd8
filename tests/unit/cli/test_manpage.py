"""The manual page is what the parsers say, and roff takes it without a word."""

import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from ktui.cli.main import COMMANDS
from ktui.config.settings import SETTINGS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def manpage() -> ModuleType:
    spec = importlib.util.spec_from_file_location("manpage", ROOT / "tools" / "manpage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_not_stale(manpage: ModuleType) -> None:
    assert manpage.FILE.read_text(encoding="utf-8") == manpage.page(), "`make man` writes it"


def test_it_names_every_command_and_variable(manpage: ModuleType) -> None:
    page = manpage.page()
    assert all(f".SS ktui {name}\n" in page for name in COMMANDS)
    assert all(setting.env in page for setting in SETTINGS)


def test_roff_has_nothing_to_say(manpage: ModuleType) -> None:
    if shutil.which("groff") is None:
        pytest.skip("no groff here")
    command = ["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", str(manpage.FILE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "line"),
    [("--a \\n", r"\-\-a \en"), (".so /etc/passwd", r"\&.so /etc/passwd"), ("'x", r"\&'x"),
     ("see `ktui info`", r"see \fBktui info\fR")],
)  # fmt: skip
def test_text_never_becomes_a_request(manpage: ModuleType, words: str, line: str) -> None:
    assert manpage.text(words) == line
