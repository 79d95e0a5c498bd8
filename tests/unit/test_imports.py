"""No two modules import each other, directly or through others; imports inside functions say why."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ktui
from tests.source import parsed

PACKAGE = Path(ktui.__file__).parent


def modules_of(root: Path) -> dict[str, Path]:
    """Module name → file."""
    found = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import, those under `if TYPE_CHECKING:` too: who reads one module must know the other."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def imported(node: ast.Import | ast.ImportFrom, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules of `known` that an import names; relative imports are not used here."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
        return
    assert node.level == 0, "absolute imports only"
    for alias in node.names:
        full = f"{node.module}.{alias.name}"
        yield from (name for name in (full if full in known else node.module or "",) if name in known)


def circle_in(root: Path) -> list[str]:
    """A circle of module names, empty when there is none."""
    known = modules_of(root)
    graph = {
        name: {other for node in imports_of(parsed(path)) for other in imported(node, known) if other != name}
        for name, path in known.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other() -> None:
    assert circle_in(PACKAGE) == []


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("from house.b import x", True),
        ("import house.b", True),
        ("def f():\n    from house import b", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.b import x", True),
        ("import typing", False),
    ],
)
def test_a_circle_is_found(tmp_path: Path, first: str, found: bool) -> None:
    root = tmp_path / "house"
    root.mkdir()
    for name, text in {
        "__init__": "",
        "a": first,
        "b": "from house.c import x",
        "c": "import house.a",
    }.items():
        (root / f"{name}.py").write_text(text)
    assert bool(circle_in(root)) is found


def late_imports(tree: ast.AST, inside: bool = False) -> Iterator[ast.stmt]:
    """The first import of each run of imports inside a function."""
    for name in ("body", "orelse", "finalbody", "handlers"):
        before: ast.stmt | None = None
        for node in getattr(tree, name, None) or ():
            is_import = isinstance(node, ast.Import | ast.ImportFrom)
            if is_import and inside and not isinstance(before, ast.Import | ast.ImportFrom):
                yield node
            if not is_import:
                yield from late_imports(
                    node, inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                )
            before = node


def test_an_import_inside_a_function_is_there_for_start_up_time_and_says_so() -> None:
    silent = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in late_imports(parsed(path)):
            said = "\n".join(lines[max(0, node.lineno - 2) : node.end_lineno]).lower()
            if not any(reason in said for reason in ("start-up", "first frame")):
                silent.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert silent == []
