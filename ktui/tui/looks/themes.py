"""Themes from `themes/*.toml`: the shipped ones and the user's own.

A file's keys are those of `textual.theme.Theme`; `[variables]` holds ktui's own
colours. A file says only what it changes: the rest comes from the theme that its
`inherits` names, else from the dark one (the light one where `dark = false`).
A file that cannot be used is reported and skipped, never fatal.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct, field
from textual.theme import Theme

from ktui.config.places import shipped_themes
from ktui.tui.looks.theme_file import ThemeError, ThemeFile, read_theme_file

DEFAULT, LIGHT, MONO = "ktui-dark", "ktui-light", "ktui-mono"


class Themes(Struct):
    """All themes found, by name, and what was wrong with the rest, by file."""

    by_name: dict[str, Theme] = field(default_factory=dict)
    wrong: dict[Path, str] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        return list(self.wrong.values())


def load_themes(*directories: Path) -> Themes:
    """Every theme of the directories; a later one replaces an earlier one of the same name."""
    found = Themes()
    files: dict[str, ThemeFile] = {}
    for directory in directories:
        for path in sorted(directory.glob("*.toml")):
            try:
                file = read_theme_file(path)
            except ThemeError as error:
                found.wrong[path] = str(error)
            else:
                # A user's theme may have the name of a shipped one and inherit from that.
                file.replaces = files.get(file.name)
                files[file.name] = file
    for file in files.values():
        try:
            found.by_name[file.name] = _resolved(file, files)
        except ThemeError as error:
            found.wrong[file.path] = str(error)
    return found


def _resolved(file: ThemeFile, files: Mapping[str, ThemeFile]) -> Theme:
    """The file's theme with all that it inherits. Raises ThemeError."""
    line: list[ThemeFile] = []
    heir: ThemeFile | None = file
    while heir is not None:
        if heir in line:
            raise ThemeError(file.path, "inherits", f"{heir.name} inherits from itself")
        line.append(heir)
        heir = _parent(heir, files)
    colours: dict[str, object] = {}
    variables: dict[str, str] = {}
    for item in reversed(line):
        colours |= item.colours
        variables |= item.variables
    return file.theme(colours, _with_derived(colours, variables))


def _parent(file: ThemeFile, files: Mapping[str, ThemeFile]) -> ThemeFile | None:
    wanted = file.inherits or (DEFAULT if file.colours.get("dark", True) else LIGHT)
    if wanted == file.name:
        return file.replaces
    if wanted in files:
        return files[wanted]
    if not file.inherits:
        return None  # a directory of its own, without the shipped ones
    raise ThemeError(file.path, "inherits", f"there is no theme {wanted!r} to inherit from")


def _with_derived(colours: Mapping[str, object], variables: Mapping[str, str]) -> dict[str, str]:
    """The variables with those of Textual's own parts, which follow from a theme's colours."""
    named = {name: value for name, value in colours.items() if isinstance(value, str)} | dict(variables)
    follow = {name: named[source] for name, source in _DERIVED.items() if source in named}
    return follow | dict(variables)


# Footer, scroll bars and inputs: each takes the colour of what it is like.
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
    """The default theme's colours: what a theme that lacks one (Textual's own do) falls back to."""
    file = read_theme_file(shipped_themes() / f"{DEFAULT}.toml")
    return dict(_resolved(file, {file.name: file}).variables)
