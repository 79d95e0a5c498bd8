"""Themes from `themes/*.toml`: ktui's and the user's.

A file has the keys of `textual.theme.Theme` and, below `[variables]`, ktui's own colours. What a file
does not set comes from the theme named by `inherits`, or else from the dark one (the light one where
`dark = false`). An invalid file is reported and skipped.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from textual.color import Color, ColorParseError
from textual.theme import Theme

from ktui.config.places import shipped_themes
from ktui.documents.limits import DocumentError, parse_toml, read_toml_text

COLOURS = (
    "primary", "secondary", "accent", "warning", "error", "success",
    "foreground", "background", "surface", "panel", "boost",
)  # fmt: skip
_OTHERS: dict[str, type | tuple[type, ...]] = {
    "dark": bool,
    "luminosity_spread": (int, float),
    "text_alpha": (int, float),
    "ansi": bool,
}


class ThemeError(Exception):
    """A theme file is invalid: its name, the line of `key` in its `text` if there is one, and the reason."""

    def __init__(self, path: Path, key: str, reason: str, text: str = "") -> None:
        found = re.search(rf"""^[ \t]*\[?["']?{re.escape(key)}\b""", text, re.MULTILINE) if key else None
        above = text.count("\n", 0, found.start()) if found else 0
        super().__init__(f"theme {path.name}{f' line {above + 1}' if found else ''}: {reason}")


class ThemeFile(Struct, eq=False):
    """A file and its contents, without what it inherits."""

    path: Path
    text: str
    name: str
    inherits: str
    colours: dict[str, Any]
    variables: dict[str, str]
    replaces: ThemeFile | None = None  # an earlier file with the same name, which it may inherit from


def read_theme_file(path: Path) -> ThemeFile:
    """Read and check a file. Raises ThemeError."""
    try:
        text = read_toml_text(path)
        data = parse_toml(text)
    except OSError as error:
        raise ThemeError(path, "", str(error.strerror)) from error
    except DocumentError as error:
        raise ThemeError(path, "", str(error)) from error  # the message has the line

    def checked(key: str, value: Any, reason: str, kind: type | tuple[type, ...] = str) -> Any:
        if not isinstance(value, kind):
            raise ThemeError(path, key, reason, text)
        return value

    def colour(key: str, value: Any) -> str:
        checked(key, value, f"{key} must be a colour in quotes")
        try:
            Color.parse(value)
        except ColorParseError as error:
            raise ThemeError(path, key, f"{key}: {value!r} is not a colour", text) from error
        return str(value)

    def field_of(key: str, value: Any) -> Any:
        if key in COLOURS:
            return colour(key, value)
        if key not in _OTHERS:
            reason = f"there is no key {key!r}; ktui's own colours go below [variables]"
            raise ThemeError(path, key, reason, text)
        return checked(key, value, f"{key} = {value!r} is of the wrong kind", _OTHERS[key])

    name, inherits = (
        checked(key, data.pop(key, ""), f"{key} must be a string in quotes") for key in ("name", "inherits")
    )
    variables = checked("variables", data.pop("variables", {}), "[variables] is a table of colours", dict)
    colours = {key: field_of(key, value) for key, value in data.items()}
    own = {key: colour(key, value) for key, value in variables.items()}
    return ThemeFile(path, text, name or path.stem, inherits, colours, own)


DEFAULT, LIGHT, MONO = "ktui-dark", "ktui-light", "ktui-mono"


class Themes(Struct):
    """The valid themes by name, and the errors of the other files."""

    by_name: dict[str, Theme] = field(default_factory=dict)
    wrong: dict[Path, str] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        return list(self.wrong.values())


def load_themes(*directories: Path) -> Themes:
    """Load every theme of the directories; a later one replaces an earlier one of the same name."""
    found = Themes()
    files: dict[str, ThemeFile] = {}
    for directory in directories:
        for path in sorted(directory.glob("*.toml")):
            try:
                file = read_theme_file(path)
            except ThemeError as error:
                found.wrong[path] = str(error)
            else:
                # A user's theme may have the name of one of ktui's, and inherit from that.
                file.replaces = files.get(file.name)
                files[file.name] = file
    for file in files.values():
        try:
            found.by_name[file.name] = _resolved(file, files)
        except ThemeError as error:
            found.wrong[file.path] = str(error)
    return found


def _resolved(file: ThemeFile, files: Mapping[str, ThemeFile]) -> Theme:
    """Return the file's theme with all that it inherits. Raises ThemeError."""
    lineage = [file]  # the heir first
    while (parent := _parent(lineage[-1], files)) is not None:
        if parent in lineage:
            raise ThemeError(file.path, "inherits", f"{parent.name} inherits from itself", file.text)
        lineage.append(parent)
    colours = ChainMap(*(item.colours for item in lineage))
    variables = ChainMap(*(item.variables for item in lineage))
    if "primary" not in colours:
        raise ThemeError(file.path, "name", "a theme needs at least a primary colour", file.text)
    # The variables of Textual's own widgets are derived from the theme's colours.
    named = {name: value for name, value in colours.items() if isinstance(value, str)} | variables
    derived = {name: named[source] for name, source in _DERIVED.items() if source in named}
    return Theme(name=file.name, variables={**derived, **variables}, **colours)


def _parent(file: ThemeFile, files: Mapping[str, ThemeFile]) -> ThemeFile | None:
    wanted = file.inherits or (DEFAULT if file.colours.get("dark", True) else LIGHT)
    if wanted == file.name:
        return file.replaces
    if wanted in files:
        return files[wanted]
    if not file.inherits:
        return None  # a directory without ktui's themes
    raise ThemeError(file.path, "inherits", f"there is no theme {wanted!r} to inherit from", file.text)


# Textual's variable → the theme's colour or variable that it takes.
_DERIVED = {
    "footer-background": "surface",
    "footer-foreground": "ink-muted",
    "footer-key-foreground": "accent",
    "footer-key-background": "surface",
    "footer-description-foreground": "ink-muted",
    "footer-item-background": "surface",
    "scrollbar": "line",
    "scrollbar-hover": "ink-faint",
    "scrollbar-active": "line-focus",
    "scrollbar-background": "background",
    "scrollbar-background-hover": "background",
    "scrollbar-background-active": "background",
    "scrollbar-corner-color": "background",
    "block-cursor-background": "cursor",
    "block-cursor-foreground": "ink-strong",
    "input-cursor-background": "foreground",
    "input-cursor-foreground": "background",
    "border": "line-focus",
    "border-blurred": "line",
}


@cache
def default_variables() -> dict[str, str]:
    """Return the default theme's colours, for themes that lack some, as Textual's own do."""
    file = read_theme_file(shipped_themes() / f"{DEFAULT}.toml")
    return dict(_resolved(file, {file.name: file}).variables)
