"""The source of Python modules, as trees."""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def parsed(path: Path) -> ast.Module:
    """The tree of a module.

    No garbage is collected meanwhile: a finalizer that formats a traceback parses, too, and the outer
    `ast.parse` of CPython 3.11 then fails ("AST constructor recursion depth mismatch").
    """
    text = path.read_text(encoding="utf-8")
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if collects:
            gc.enable()
