"""A public class name stands for one concept: no two modules define a class of the same name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.source import parsed

ROOT = Path(__file__).parents[2]


def public_classes() -> dict[str, list[str]]:
    """Name → the modules that define a class of that name."""
    found = defaultdict(list)
    for path in sorted((ROOT / "ktui").rglob("*.py")):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(ROOT)))
    return found


def test_a_public_class_name_is_defined_once() -> None:
    assert {name: paths for name, paths in public_classes().items() if len(paths) > 1} == {}
