"""`[contexts.NAME]`: a cluster, by its etcd, a snapshot, a running server, or a kubeconfig's context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ktui.config.errors import ConfigError, nearest
from ktui.config.settings import GATES, NAMES, PATH, SWITCH, TEXT, VERSION, ValueType, read_value
from ktui.config.tomlfile import TomlFile

NONE = "none"  # `--context none`: no context, whatever the file says
_ETCD = ("etcd", "snapshot")


class ContextKey(Struct, frozen=True):
    """A key of a context; `sources` are the sources that it applies to, () for any."""

    name: str
    kind: ValueType
    sources: tuple[str, ...] = ()
    secret: bool = False

    @property
    def dest(self) -> str:
        return self.name.replace("-", "_")


SOURCES = ("etcd", "snapshot", "attach", "prometheus")
_KUBE = ("kubeconfig", "kube-context")
# (names, type, sources that they apply to, whether they are secret)
_KEYS: tuple[tuple[str, ValueType, tuple[str, ...], bool], ...] = (
    ("etcd", NAMES, (), False),
    ("snapshot kubeconfig follow-audit", PATH, (), False),
    ("attach kube-context prometheus theme", TEXT, (), False),
    ("cacert cert key", PATH, ("etcd",), False),
    ("server-name", TEXT, ("etcd",), False),
    ("user", TEXT, _ETCD, True),
    ("etcd-prefix", TEXT, _ETCD, False),
    ("allow-writes assume-watch-progress check-consistency", SWITCH, _ETCD, False),
    ("kube-version", VERSION, _ETCD, False),
    ("feature-gates", GATES, _ETCD, False),
    ("warm", NAMES, _ETCD, False),
    ("token", TEXT, ("attach",), True),
    ("server-ca", PATH, ("attach",), False),
    ("prometheus-token prometheus-user prometheus-header", TEXT, ("prometheus",), True),
)
ENTRIES: Mapping[str, ContextKey] = {
    name: ContextKey(name, kind, sources, secret)
    for names, kind, sources, secret in _KEYS
    for name in names.split()
}


class Context(Struct, frozen=True):
    """A context; `values` and `places` (file and line of each) are by the attribute that they set."""

    name: str
    source: str  # "etcd", "snapshot", "attach", "" for a kubeconfig alone
    values: Mapping[str, Any]
    places: Mapping[str, str]

    @property
    def kube(self) -> bool:
        return "kubeconfig" in self.values or "kube_context" in self.values

    @property
    def secrets(self) -> bool:
        """True if the context contains a password or a token."""
        secret = ("token", "prometheus_token", "prometheus_user", "prometheus_header")
        return any(name in self.values for name in secret) or ":" in self.values.get("user", "")


def read_contexts(file: TomlFile) -> dict[str, Context]:
    """Return all contexts of a file by name. Raises ConfigError."""
    tables = file.data.get("contexts", {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{file.where('contexts')}: contexts are tables: write [contexts.NAME]")
    return {name: _context(file, name, table) for name, table in tables.items()}


def _context(file: TomlFile, name: str, table: object) -> Context:
    where, title = file.where("contexts", name), f"[contexts.{name}]"
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: contexts.{name} is not a table: write {title}")
    if name == NONE:
        raise ConfigError(f"{where}: no context can be called {NONE!r}: it means that none is used")
    for key in table:
        if key not in ENTRIES:
            at = file.where("contexts", name, key)
            raise ConfigError(f"{at}: {title} knows no {key!r}; {nearest(key, ENTRIES)}")
    source = _source(where, title, table)
    for key in table:
        sources = ENTRIES[key].sources
        if sources and source not in sources:
            at, needed = file.where("contexts", name, key), " or ".join(map(repr, sources))
            raise ConfigError(f"{at}: {title} has {key!r}, which also needs {needed}")
    values, places = {}, {}
    for entry in map(ENTRIES.__getitem__, table):
        keys = "contexts", name, entry.name
        values[entry.dest] = read_value(file, entry.kind, *keys, secret=entry.secret)
        places[entry.dest] = file.where(*keys)
    return Context(name, source, values, places)


def _source(where: str, title: str, table: Mapping[str, Any]) -> str:
    sources = [key for key in SOURCES if key in table]
    if len(sources) > 1:
        raise ConfigError(f"{where}: {title} has {' and '.join(sources)}: choose one")
    if not sources and not any(key in table for key in _KUBE):
        raise ConfigError(f"{where}: {title} names no cluster: it needs {', '.join((*SOURCES, *_KUBE))}")
    return sources[0] if sources else ""
