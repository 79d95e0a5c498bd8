"""All settings: their names in the config file, in the environment and as options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ktui.config.errors import ConfigError
from ktui.config.tomlfile import TomlFile


class ValueType(Struct, frozen=True):
    """A type. `shape` describes valid values; `of_toml` and `of_text` parse one, or raise ValueError."""

    shape: str
    of_toml: Callable[[object], Any]
    of_text: Callable[[str], Any]
    is_path: bool = False

    def placed(self, value: Any, home: Path) -> Any:
        """Return `value`; a path is made relative to `home`, the directory of the config file."""
        return str(home / Path(value).expanduser()) if self.is_path else value


def _typed(kind: Any) -> Callable[[object], Any]:
    """Return the check of a value by a type with its bounds, which raises ValueError."""

    def checked(value: object) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            raise ValueError from None

    return checked


_Text = Annotated[str, Meta(min_length=1)]
_text = _typed(_Text)
_texts = _typed(Annotated[list[_Text], Meta(min_length=1)])
_switch = _typed(bool)
_whole = _typed(int)
_count = _typed(Annotated[int, Meta(ge=1)])
_port = _typed(Annotated[int, Meta(ge=0)])
_pace = _typed(Annotated[float, Meta(gt=0, le=sys.float_info.max)])


def _path(text: str) -> str:
    return str(Path(_text(text)).expanduser())


def _switch_text(text: str) -> bool:
    on = text.lower() in ("1", "true", "yes", "on")
    if not on and text.lower() not in ("0", "false", "no", "off"):
        raise ValueError
    return on


def _names(value: object) -> str:
    return ",".join(_texts([value] if isinstance(value, str) else value))


def _gates(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{gate}={str(_switch(on)).lower()}" for gate, on in value.items())
    from ktui.kube.versions import BehaviourError, parse_gates  # start-up time

    text = _names(value)
    try:
        parse_gates(text)
    except BehaviourError as error:
        raise ValueError(str(error)) from error
    return text


def _version(value: object) -> str:
    from ktui.kube.versions import BehaviourError, behaviour_of  # start-up time

    text: str = _typed(str)(value)
    try:
        behaviour_of(text)
    except BehaviourError as error:
        raise ValueError(str(error)) from error
    return text


TEXT = ValueType('a text, like "name"', _text, _text)
PATH = ValueType("the path of a file, in quotes", _text, _path, is_path=True)
SWITCH = ValueType("true or false", _switch, _switch_text)
WHOLE = ValueType("a whole number", _whole, int)
COUNT = ValueType(
    "a number of at least 1", _count, lambda text: _count(int(text.replace(",", "").replace("_", "")))
)
PORT = ValueType("a port, 0 for a free one", _port, lambda text: _port(int(text)))
PACE = ValueType("a number above 0", _pace, lambda text: _pace(float(text)))
NAMES = ValueType('a list of texts, like ["one", "two"]', _names, _names)
GATES = ValueType("feature gates, like { WatchList = true }", _gates, _gates)
VERSION = ValueType('a Kubernetes version, like "1.30"', _version, _version)


def choice(*words: str) -> ValueType:
    def one(value: object) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return ValueType(" or ".join(words), one, one)


DASHBOARD, SERVE = "dashboard", "serve"
BOTH = (DASHBOARD, SERVE)
# Tables of ktui's own settings: their variables do not include the table's name (KTUI_THEME, KTUI_PODS).
_PLAIN = ("dashboard", "server", "demo")


class Setting(Struct, frozen=True):
    """A setting: `table` and `name` as in the file; `commands` are the commands with this option."""

    table: str
    name: str
    kind: ValueType
    commands: tuple[str, ...]
    about: str
    secret: bool = False
    option: str = ""  # without dashes, if it differs from the name

    @property
    def id(self) -> str:
        return f"{self.table}.{self.name}"

    @property
    def dest(self) -> str:
        return (self.option or self.name).replace("-", "_")

    @property
    def flag(self) -> str:
        return f"--{self.option or self.name}"

    @property
    def env(self) -> str:
        words = (self.name,) if self.table in _PLAIN else (self.table, self.name)
        return "_".join(("KTUI", *words)).upper().replace("-", "_")


def _rows(
    table: str, commands: tuple[str, ...], *rows: tuple[str, ValueType, str], option: str = ""
) -> Iterator[Setting]:
    """Yield settings of one table and the same commands; `option` begins their options' names."""
    for name, kind, about in rows:
        yield Setting(table, name, kind, commands, about, option=f"{option}{name}" if option else "")


SETTINGS: tuple[Setting, ...] = (
    *_rows("dashboard", (DASHBOARD, "audit"), ("theme", TEXT, "colours; `:theme` lists them")),
    *_rows("dashboard", (DASHBOARD,),
           ("symbols", choice("braille", "block", "ascii"), "what charts are drawn with"),
           ("mouse", SWITCH, "whether the mouse does anything"),
           ("speed", PACE, "pace of a replay")),
    *_rows("server", (*BOTH, "explain", "audit", "ci", "rules"),
           ("kube-version", VERSION, "whose rules are followed")),
    *_rows("server", (*BOTH, "explain", "audit", "ci"),
           ("feature-gates", GATES, "feature gates that override the version's defaults")),
    *_rows("server", BOTH,
           ("warm", NAMES, "caches to fill at start: all, none, or resources"),
           ("watch-cache", SWITCH, "serve from watch caches"),
           ("assume-watch-progress", SWITCH, "trust etcd's progress requests"),
           ("check-consistency", SWITCH, "compare caches with etcd every 5 to 7.5 minutes"),
           ("etcd-binary", PATH, "the etcd to embed"),
           ("data-dir", PATH, "where the embedded etcd keeps its data")),
    *_rows("server", (SERVE,), ("listen", TEXT, "HOST:PORT of `ktui serve`")),
    Setting("server", "token", TEXT, (SERVE,), "the bearer token of `ktui serve`", secret=True),
    *_rows("demo", (*BOTH, "seed"),
           ("pods", COUNT, "pods of the demo cluster"),
           ("nodes", COUNT, "its nodes"),
           ("namespaces", COUNT, "its namespaces"),
           ("seed", WHOLE, "the same seed makes the same cluster")),
    *_rows("demo", BOTH, ("quiet", SWITCH, "no traffic: the demo cluster stands still")),
    *_rows("log", BOTH,
           ("file", PATH, "where ktui writes down what it does"),
           ("level", choice("debug", "info", "warning", "error"), "from which level on"),
           ("format", choice("plain", "json"), "lines for people or for programs"), option="log-"),
    *_rows("list", ("list",), ("repeat", COUNT, "send it this many times and take the median")),
    *_rows("bench", ("bench",), ("repeat", COUNT, "send each LIST this many times and take the median")),
    *_rows("audit", ("audit",),
           ("top", COUNT, "how many groups to show"),
           ("etcd-version", TEXT, "of the cluster that wrote the logs"),
           ("etcd-prefix", TEXT, "where that cluster keeps its keys")),
    *_rows("web", ("web",), ("host", TEXT, "a loopback address to listen on"), ("port", PORT, "its port")),
)  # fmt: skip

TABLES = tuple(dict.fromkeys(setting.table for setting in SETTINGS))
CONTEXT_ENV = "KTUI_CONTEXT"
# Variables that are read elsewhere: tokens, and variables in the screens' code snippets.
PROMETHEUS_ENV = ("KTUI_PROMETHEUS_TOKEN", "KTUI_PROMETHEUS_USER", "KTUI_PROMETHEUS_HEADER")
OTHER_ENV = ("KTUI_CONFIG", CONTEXT_ENV, "KTUI_TOKEN", "KTUI_CA", *PROMETHEUS_ENV)


def settings_of(command: str) -> tuple[Setting, ...]:
    """Return the settings for a command's options; `ktui web` and `ktui info` have the dashboard's too."""
    commands = {command, DASHBOARD} if command in ("web", "info") else {command}
    return tuple(setting for setting in SETTINGS if commands.intersection(setting.commands))


def environment_names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(setting.env for setting in SETTINGS), *OTHER_ENV)))


def read_value(file: TomlFile, kind: ValueType, *keys: str, secret: bool = False) -> Any:
    """Return the parsed value under `keys`. Raises ConfigError."""
    value: Any = file.data
    for key in keys:
        value = value[key]
    try:
        return kind.placed(kind.of_toml(value), file.path.parent)
    except ValueError as error:
        import json  # start-up time

        *tables, name = keys
        text = json.dumps(value, default=str)
        shown = "" if secret else f" {text if len(text) <= 40 else f'{text[:39]}…'}"
        title = f"{file.where(*keys)}: [{'.'.join(tables)}] {name}"
        raise ConfigError(f"{title} is{shown}{_wrong(kind, error)}") from error


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
