"""Read and check the config file; the ids in `[keys]` and `[columns]` are checked by the dashboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from ktui.config.contexts import NONE, Context, read_contexts
from ktui.config.errors import ConfigError, nearest
from ktui.config.settings import SETTINGS, TABLES, read_value
from ktui.config.tomlfile import TomlFile, read_toml

KEYS, COLUMNS, _CONTEXT = "keys", "columns", "context"
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


FORMER_KEYS = {
    "overview.costliest": "overview.ranking", "lab.fire": "lab.send", "lab.race": "lab.compare",
    "lab.undercut": "lab.cheaper", "lab.prove": "lab.check", "lab.aim": "lab.target",
    "form.fire": "form.send", "choice.fire": "choice.send", "aim.close": "target.close",
}  # fmt: skip
FORMER_TABLES = {"cache.ring": "cache.events"}
FORMER_COLUMNS = {"lab.results": {"foreseen": "predicted"}}


def current_columns(chosen: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return columns by current table id, with their current ids."""
    found: dict[str, tuple[str, ...]] = {}
    for table, ids in chosen.items():
        today = FORMER_TABLES.get(table, table)
        if today == table or today not in chosen:
            renamed = FORMER_COLUMNS.get(today, {})
            found[today] = tuple(renamed.get(id_, id_) for id_ in ids)
    return found


_A_KEY = 'takes a key, like "f5", or a list of them'
_A_LIST = 'takes a list of columns, like ["route", "ms"]'


def table_of(file: TomlFile, name: str) -> Mapping[str, Any]:
    """Return a table of the file, {} if it is missing. Raises ConfigError if it is not a table."""
    table = file.data.get(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{file.where(name)}: {name} is a table: write [{name}]")
    return table


def read_keys(file: TomlFile) -> dict[str, str]:
    """Return keys, comma separated, by current binding id; former ids count less. Raises ConfigError."""
    former, current = dict[str, str](), dict[str, str]()
    for binding, keys in _flat(table_of(file, KEYS)).items():
        words, name = [keys] if isinstance(keys, str) else keys, ".".join(binding)
        found = former if name in FORMER_KEYS else current
        found[FORMER_KEYS.get(name, name)] = ",".join(_texts(file, (KEYS, *binding), words, _A_KEY))
    return former | current


def read_columns(file: TomlFile) -> dict[str, tuple[str, ...]]:
    """Return column ids by table id. Raises ConfigError."""
    tables = _flat(table_of(file, COLUMNS)).items()
    found = {".".join(table): _texts(file, (COLUMNS, *table), names, _A_LIST) for table, names in tables}
    return current_columns(found)


def place_of(file: TomlFile, table: str, name: str) -> str:
    """Return file and line of an id in `[keys]` or `[columns]`: `config.toml:12`."""
    entries = table_of(file, table)
    former = next((old for old, new in (FORMER_KEYS | FORMER_TABLES).items() if new == name), "")
    written = former if former in entries or tuple(former.split(".")) in _flat(entries) else name
    return file.where(table, written) if written in entries else file.where(table, *written.split("."))


def _texts(file: TomlFile, place: tuple[str, ...], words: object, takes: str) -> tuple[str, ...]:
    if not isinstance(words, list) or not words or not all(isinstance(w, str) and w for w in words):
        raise ConfigError(f"{file.where(*place)}: [{place[0]}] {'.'.join(place[1:])} {takes}")
    return tuple(words)


def _flat(table: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """Flatten the table, since dots in TOML keys nest: `go.lab = "f5"` and `"go.lab" = "f5"` are the same."""
    found: dict[tuple[str, ...], Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= {(key, *rest): deep for rest, deep in _flat(value).items()}
        else:
            found[(key,)] = value
    return found
