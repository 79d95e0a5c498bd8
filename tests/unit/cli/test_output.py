"""The doors to standard output and standard error, and that there are no others."""

from __future__ import annotations

import ast
import io
import json
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

import ktui
from ktui.cli.output import ask, emit, emit_json, progress, replace_line, tell, warn
from ktui.cli.printing import Printer
from tests.source import parsed

EVIL = "a\x1b]52;c;aGk=\x07\x1b[31mb\x9b2J\u202ec\x7f\x08"
SAFE = "a\\x1b]52;c;aGk=\\x07\\x1b[31mb\\x9b2J\\u202ec\\x7f\\x08"
PACKAGE = Path(ktui.__file__).parent
DOORS = {
    "cli/output.py",
    "apiserver/parsing/worker.py",  # answers its parent, in a pipe
    "etcd/warden.py",  # a forked process that could not become etcd
}


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    emit(f"{EVIL}\n\tmore")
    warn(EVIL)
    tell(EVIL)
    ask(f"{EVIL}? ")
    out, err = capsys.readouterr()
    assert out == f"{SAFE}\n\tmore\n"
    assert err == f"ktui: {SAFE}\n{SAFE}\nktui: {SAFE}? "


def test_only_own_colours(capsys: pytest.CaptureFixture[str]) -> None:
    emit(f"\x1b[1;32mC\x1b[0m {SAFE} \x1b[2J \x1b]0;x\x07", coloured=True)
    assert capsys.readouterr().out == f"\x1b[1;32mC\x1b[0m {SAFE} \\x1b[2J \\x1b]0;x\\x07\n"


def test_lines_that_are_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    progress(EVIL)
    replace_line(EVIL)
    out, err = capsys.readouterr()
    assert out == err == f"\r\x1b[K{SAFE}"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    document = {EVIL: [EVIL, "é世界\U000e0041\ud800"]}
    for indent in (None, 2):
        emit_json(document, indent=indent)
        out = capsys.readouterr().out
        assert json.loads(out) == document and "é世界" in out
        assert out.replace("\n", "").isprintable()


def test_tables() -> None:
    out = io.StringIO()
    printer = Printer(file=out, width=200, force_terminal=True, color_system="truecolor", highlight=False)
    table = Table(title=Text(EVIL))
    table.add_column(Text(EVIL))
    table.add_row(Text(EVIL, "red"))
    printer.print(table, Text(EVIL), EVIL)
    text = out.getvalue()
    for own in ("\x1b[31m", "\x1b[0m", "\x1b[1m", "\x1b[3m", "\x1b[1;36m"):
        text = text.replace(own, "")
    assert text.count("\\x1b]52;c;aGk=") >= 4
    assert "\x1b" not in text and "\x9b" not in text and "\u202e" not in text and "\x07" not in text


@pytest.mark.slow
def test_there_is_no_other_door() -> None:
    """`print` is forbidden by ruff; the streams themselves are here."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and node.attr in _METHODS and ast.unparse(node) in _WRITING:
                found.add(path.relative_to(PACKAGE).as_posix())
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console":
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found <= DOORS


_METHODS = ("write", "writelines", "buffer")
_WRITING = {
    f"sys.{stream}.{method}"
    for stream in ("stdout", "stderr", "__stdout__", "__stderr__")
    for method in _METHODS
}
