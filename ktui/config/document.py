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
    """The config file: `values` by setting id, `keys` (comma separated) by binding id, `columns` by table."""

    file: TomlFile
    values: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contexts: Mapping[str, Context] = field(default_factory=dict)
    context: str = ""
    warnings: tuple[str, ...] = ()


def read_config(path: Path, *, required: bool = False) -> Config:
    """Read a config file. Raises ConfigError for what is unknown or invalid, or a missing `required` file."""
    file = read_toml(path)
    if required and not file.exists:
        raise ConfigError(f"there is no config file {path}")
    if not file.exists:
        return Config(file)
    for word in file.data:
        if word not in _TOP:
            kind = f"table [{word}]" if isinstance(file.data[word], dict) else f"setting {word!r}"
            raise ConfigError(f"{file.where(word)}: there is no {kind}; {nearest(word, _TOP)}")
    values, contexts = _values(file), read_contexts(file)
    keys, columns, name = read_keys(file), read_columns(file), file.data.get(_CONTEXT, "")
    if not isinstance(name, str):
        raise ConfigError(f'{file.where(_CONTEXT)}: context takes a name, like "prod"')
    if name and name != NONE and name not in contexts:
        raise ConfigError(f"{file.where(_CONTEXT)}: there is no [contexts.{name}]; {nearest(name, contexts)}")
    return Config(file, values, keys, columns, contexts, name, _warnings(file, values, contexts))


def _values(file: TomlFile) -> dict[str, Any]:
    known = {setting.id: setting for setting in SETTINGS}
    values = {}
    for table in TABLES:
        for name in table_of(file, table):
            setting = known.get(f"{table}.{name}")
            if setting is None:
                other = next((each.table for each in SETTINGS if each.name == name), "")
                alike = nearest(name, [each.name for each in SETTINGS if each.table == table])
                hint = f"it belongs in [{other}]" if other else alike
                raise ConfigError(f"{file.where(table, name)}: [{table}] knows no {name!r}; {hint}")
            values[setting.id] = read_value(file, setting.kind, table, name, secret=setting.secret)
    return values


def _warnings(file: TomlFile, values: Mapping[str, Any], contexts: Mapping[str, Context]) -> tuple[str, ...]:
    secret = any(setting.secret and setting.id in values for setting in SETTINGS)
    secret = secret or any(context.secrets for context in contexts.values())
    if not secret or not file.path.stat().st_mode & 0o077:
        return ()
    return (f"{file.path} holds a password or a token, and others can read it: chmod 600 {file.path}",)
