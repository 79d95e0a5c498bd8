"""Parse one value of a config file or the environment."""

from __future__ import annotations

from typing import Any

from ktui.config.errors import ConfigError
from ktui.config.kinds import ValueType
from ktui.config.settings import Setting
from ktui.config.tomlfile import TomlFile


def read_value(file: TomlFile, kind: ValueType, *keys: str, secret: bool = False) -> Any:
    """Return the parsed value under `keys`. Raises ConfigError."""
    value: Any = file.data
    for key in keys:
        value = value[key]
    try:
        return kind.placed(kind.of_toml(value), file.path.parent)
    except ValueError as error:
        *tables, name = keys
        title = f"[{'.'.join(tables)}] {name}" if tables else name
        shown = "" if secret else f" {_shown(value)}"
        raise ConfigError(f"{file.where(*keys)}: {title} is{shown}{_wrong(kind, error)}") from error


def read_variable(setting: Setting, text: str) -> Any:
    """Parse a KTUI_* variable. Raises ConfigError."""
    try:
        return setting.kind.of_text(text)
    except ValueError as error:
        shown = "" if setting.secret else f" {text!r}"
        raise ConfigError(f"{setting.env} is{shown}{_wrong(setting.kind, error)}") from error


def _wrong(kind: ValueType, error: ValueError) -> str:
    text = str(error)
    known = text and not text.startswith(("invalid literal", "could not convert"))
    return f": {text}" if known else f"; write {kind.shape}"


def _shown(value: object) -> str:
    """Return a value for an error message, shortened."""
    import json  # start-up time

    text = json.dumps(value, default=str, ensure_ascii=True)
    return text if len(text) <= 40 else f"{text[:39]}…"
