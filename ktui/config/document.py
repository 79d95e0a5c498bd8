"""Read and check the config file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from ktui.config.contexts import NONE, Context, read_contexts
from ktui.config.errors import ConfigError, nearest
from ktui.config.lists import COLUMNS, KEYS, read_columns, read_keys, table_of
from ktui.config.settings import SETTINGS, TABLES, read_value
from ktui.config.tomlfile import TomlFile, read_toml

_CONTEXT = "context"
_TOP = (*TABLES, KEYS, COLUMNS, "contexts", _CONTEXT)


class Config(Struct, frozen=True):
    """The config file.

    `values` are by setting id; `keys` by binding id, comma separated; `columns` by table id.
    """

    file: TomlFile
    values: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contexts: Mapping[str, Context] = field(default_factory=dict)
    context: str = ""
    warnings: tuple[str, ...] = ()


def read_config(path: Path, *, required: bool = False) -> Config:
    """Read a config file.

    Raises ConfigError for anything unknown or invalid, or if a required file is missing.
    """
    file = read_toml(path)
    if required and not file.exists:
        raise ConfigError(f"there is no config file {path}")
    if not file.exists:
        return Config(file)
    for word in file.data:
        if word not in _TOP:
            kind = f"table [{word}]" if isinstance(file.data[word], dict) else f"setting {word!r}"
            raise ConfigError(f"{file.where(word)}: there is no {kind}; {nearest(word, _TOP)}")
    values = _values(file)
    contexts = read_contexts(file)
    return Config(
        file, values, read_keys(file), read_columns(file), contexts, _default_context(file, contexts),
        _warnings(file, values, contexts),
    )  # fmt: skip


def _values(file: TomlFile) -> dict[str, Any]:
    known = {setting.id: setting for setting in SETTINGS}
    values = {}
    for table in TABLES:
        for name in table_of(file, table):
            setting = known.get(f"{table}.{name}")
            if setting is None:
                at = file.where(table, name)
                raise ConfigError(f"{at}: [{table}] knows no {name!r}; {_elsewhere(table, name)}")
            values[setting.id] = read_value(file, setting.kind, table, name, secret=setting.secret)
    return values


def _elsewhere(table: str, name: str) -> str:
    """Return a hint: the table that has this setting, else the nearest name in this table."""
    for setting in SETTINGS:
        if setting.name == name:
            return f"it belongs in [{setting.table}]"
    return nearest(name, [setting.name for setting in SETTINGS if setting.table == table])


def _default_context(file: TomlFile, contexts: Mapping[str, Context]) -> str:
    name = file.data.get(_CONTEXT, "")
    if not isinstance(name, str):
        raise ConfigError(f'{file.where(_CONTEXT)}: context takes a name, like "prod"')
    if name and name != NONE and name not in contexts:
        raise ConfigError(f"{file.where(_CONTEXT)}: there is no [contexts.{name}]; {nearest(name, contexts)}")
    return name


def _warnings(file: TomlFile, values: Mapping[str, Any], contexts: Mapping[str, Context]) -> tuple[str, ...]:
    secret = any(setting.secret and setting.id in values for setting in SETTINGS)
    if not secret and not any(context.secrets for context in contexts.values()):
        return ()
    mode = file.path.stat().st_mode
    if not mode & 0o077:
        return ()
    return (f"{file.path} holds a password or a token, and others can read it: chmod 600 {file.path}",)
