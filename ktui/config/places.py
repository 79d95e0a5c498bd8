"""The paths of ktui's files: XDG directories, config file, themes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

CONFIG_ENV = "KTUI_CONFIG"
_PACKAGE = Path(__file__).resolve().parents[1]


def config_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_CONFIG_HOME/ktui` (default `~/.config/ktui`)."""
    return _home(environ, "XDG_CONFIG_HOME", ".config")


def state_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_STATE_HOME/ktui` (default `~/.local/state/ktui`)."""
    return _home(environ, "XDG_STATE_HOME", ".local/state")


def config_file(environ: Mapping[str, str], given: str = "") -> Path:
    """Return the file of `--config`, else of KTUI_CONFIG, else `config.toml` in the config directory."""
    named = given or environ.get(CONFIG_ENV, "")
    return Path(named).expanduser() if named else config_home(environ) / "config.toml"


def user_themes(environ: Mapping[str, str]) -> Path:
    return config_home(environ) / "themes"


def shipped_themes() -> Path:
    """Return `ktui/themes` of an installed wheel, or `themes` of a checkout."""
    installed = _PACKAGE / "themes"
    return installed if installed.is_dir() else _PACKAGE.parent / "themes"


def _home(environ: Mapping[str, str], variable: str, default: str) -> Path:
    base = environ.get(variable)
    return (Path(base) if base else Path.home() / default) / "ktui"


def theme_names(environ: Mapping[str, str]) -> list[str]:
    """Return the names of ktui's and the user's themes, sorted; unreadable files are left out."""
    from ktui.documents.limits import parse_toml, read_toml_text  # start-up time

    found = set()
    for path in (*shipped_themes().glob("*.toml"), *user_themes(environ).glob("*.toml")):
        with suppress(OSError, ValueError):  # the dashboard reports the error
            name = parse_toml(read_toml_text(path)).get("name", path.stem)
            if isinstance(name, str):
                found.add(name)
    return sorted(found)
