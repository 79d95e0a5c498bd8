"""Themes from `themes/*.toml`: the shipped ones and the user's own.

A file's keys are those of `textual.theme.Theme`; `[variables]` holds ktui's own
colours. A file that cannot be used is reported and skipped, never fatal.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from textual.color import Color, ColorParseError
from textual.theme import Theme

DEFAULT = "ktui-dark"
_PACKAGE = Path(__file__).resolve().parents[1]


class ThemeError(Exception):
    """A theme file cannot be used; the message names it and says why."""


@dataclass(slots=True)
class Themes:
    """All themes found, by name, and what was wrong with the rest."""

    by_name: dict[str, Theme] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def shipped_directory() -> Path:
    """`ktui/themes` of an installed wheel, or `themes` of a checkout."""
    installed = _PACKAGE / "themes"
    return installed if installed.is_dir() else _PACKAGE.parent / "themes"


def user_directory() -> Path:
    """`$XDG_CONFIG_HOME/ktui/themes` (default `~/.config/ktui/themes`)."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "ktui" / "themes"


def load_themes(*directories: Path) -> Themes:
    """Every theme of the directories; a later one replaces an earlier one of the same name."""
    found = Themes()
    for directory in directories:
        for path in sorted(directory.glob("*.toml")):
            try:
                theme = read_theme(path)
            except ThemeError as error:
                found.problems.append(str(error))
            else:
                found.by_name[theme.name] = theme
    return found


def read_theme(path: Path) -> Theme:
    """One file as a Theme. Raises ThemeError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        theme = Theme(**data)
        for value in _colours(theme):
            Color.parse(value)
    except OSError as error:
        raise ThemeError(f"theme {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, ColorParseError) as error:
        raise ThemeError(f"theme {path.name}: {error}") from error
    return theme


def _colours(theme: Theme) -> list[str]:
    named = (
        theme.primary,
        theme.secondary,
        theme.accent,
        theme.warning,
        theme.error,
        theme.success,
        theme.foreground,
        theme.background,
        theme.surface,
        theme.panel,
        theme.boost,
    )
    if not all(isinstance(value, str) for value in theme.variables.values()):
        raise TypeError("every entry of [variables] must be a colour in quotes")
    return [value for value in named if value is not None] + list(theme.variables.values())


@cache
def default_variables() -> dict[str, str]:
    """The default theme's colours: what a theme that lacks one (Textual's own do) falls back to."""
    return dict(read_theme(shipped_directory() / f"{DEFAULT}.toml").variables)
