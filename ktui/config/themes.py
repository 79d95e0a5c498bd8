"""The names of the available themes, without loading any UI code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ktui.config.places import shipped_themes, user_themes


def theme_names(environ: Mapping[str, str]) -> list[str]:
    """Return the names of ktui's and the user's themes, sorted; unreadable files are left out."""
    return sorted(
        {name for directory in (shipped_themes(), user_themes(environ)) for name in _names(directory)}
    )


def _names(directory: Path) -> list[str]:
    from ktui.documents.toml import parse_toml, read_toml_text  # start-up time

    found = []
    for path in directory.glob("*.toml"):
        try:
            name = parse_toml(read_toml_text(path)).get("name", path.stem)
        except (OSError, ValueError):
            continue  # the dashboard reports the error
        if isinstance(name, str):
            found.append(name)
    return found
