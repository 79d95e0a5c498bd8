"""Themes from `themes/*.toml`: ktui's and the user's.

A file has the keys of `textual.theme.Theme` and, below `[variables]`, ktui's own colours. What a file
does not set comes from the theme named by `inherits`, or else from the dark one (the light one where
`dark = false`). An invalid file is reported and skipped.
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
    ancestors: list[ThemeFile] = []
    heir: ThemeFile | None = file
    while heir is not None:
        if heir in ancestors:
            raise ThemeError(file.path, "inherits", f"{heir.name} inherits from itself")
        ancestors.append(heir)
        heir = _parent(heir, files)
    colours: dict[str, object] = {}
    variables: dict[str, str] = {}
    for item in reversed(ancestors):
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
        return None  # a directory without ktui's themes
    raise ThemeError(file.path, "inherits", f"there is no theme {wanted!r} to inherit from")


def _with_derived(colours: Mapping[str, object], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with those of Textual's own widgets, derived from the theme's colours."""
    named = {name: value for name, value in colours.items() if isinstance(value, str)} | dict(variables)
    follow = {name: named[source] for name, source in _DERIVED.items() if source in named}
    return follow | dict(variables)


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
