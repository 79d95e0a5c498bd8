"""All settings: their names in the config file, in the environment and as options."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ktui.config import kinds
from ktui.config.errors import ConfigError
from ktui.config.kinds import ValueType
from ktui.config.tomlfile import TomlFile

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
        """The attribute of the parsed arguments."""
        return (self.option or self.name).replace("-", "_")

    @property
    def flag(self) -> str:
        return f"--{self.option or self.name}"

    @property
    def env(self) -> str:
        words = (self.name,) if self.table in _PLAIN else (self.table, self.name)
        return "_".join(("KTUI", *words)).upper().replace("-", "_")


def _of(table: str, commands: tuple[str, ...], *rows: tuple[str, ValueType, str]) -> tuple[Setting, ...]:
    return tuple(Setting(table, name, kind, commands, about) for name, kind, about in rows)


SETTINGS: tuple[Setting, ...] = (
    Setting("dashboard", "theme", kinds.TEXT, (DASHBOARD, "audit"), "colours; `:theme` lists them"),
    *_of(
        "dashboard",
        (DASHBOARD,),
        ("symbols", kinds.choice("braille", "block", "ascii"), "what charts are drawn with"),
        ("mouse", kinds.SWITCH, "whether the mouse does anything"),
        ("speed", kinds.PACE, "pace of a replay"),
    ),
    *_of(
        "server",
        (*BOTH, "explain", "audit", "ci", "rules"),
        ("kube-version", kinds.VERSION, "whose rules are followed"),
    ),
    *_of(
        "server",
        (*BOTH, "explain", "audit", "ci"),
        ("feature-gates", kinds.GATES, "feature gates that override the version's defaults"),
    ),
    *_of(
        "server",
        BOTH,
        ("warm", kinds.NAMES, "caches to fill at start: all, none, or resources"),
        ("watch-cache", kinds.SWITCH, "serve from watch caches"),
        ("assume-watch-progress", kinds.SWITCH, "trust etcd's progress requests"),
        ("check-consistency", kinds.SWITCH, "compare caches with etcd every 5 to 7.5 minutes"),
        ("etcd-binary", kinds.PATH, "the etcd to embed"),
        ("data-dir", kinds.PATH, "where the embedded etcd keeps its data"),
    ),
    *_of("server", (SERVE,), ("listen", kinds.TEXT, "HOST:PORT of `ktui serve`")),
    Setting("server", "token", kinds.TEXT, (SERVE,), "the bearer token of `ktui serve`", secret=True),
    *_of(
        "demo",
        (*BOTH, "seed"),
        ("pods", kinds.COUNT, "pods of the demo cluster"),
        ("nodes", kinds.COUNT, "its nodes"),
        ("namespaces", kinds.COUNT, "its namespaces"),
        ("seed", kinds.WHOLE, "the same seed makes the same cluster"),
    ),
    *_of("demo", BOTH, ("quiet", kinds.SWITCH, "no traffic: the demo cluster stands still")),
    *(
        Setting("log", name, kind, BOTH, about, option=f"log-{name}")
        for name, kind, about in (
            ("file", kinds.PATH, "where ktui writes down what it does"),
            ("level", kinds.choice("debug", "info", "warning", "error"), "from which level on"),
            ("format", kinds.choice("plain", "json"), "lines for people or for programs"),
        )
    ),
    *_of("list", ("list",), ("repeat", kinds.COUNT, "send it this many times and take the median")),
    *_of("bench", ("bench",), ("repeat", kinds.COUNT, "send each LIST this many times and take the median")),
    *_of(
        "audit",
        ("audit",),
        ("top", kinds.COUNT, "how many groups to show"),
        ("etcd-version", kinds.TEXT, "of the cluster that wrote the logs"),
        ("etcd-prefix", kinds.TEXT, "where that cluster keeps its keys"),
    ),
    *_of(
        "web",
        ("web",),
        ("host", kinds.TEXT, "a loopback address to listen on"),
        ("port", kinds.PORT, "its port"),
    ),
)

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
    """Return the names of all KTUI_* variables that are used."""
    return tuple(dict.fromkeys((*(setting.env for setting in SETTINGS), *OTHER_ENV)))


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
