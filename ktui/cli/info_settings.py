"""The settings for `ktui info`, each with its value and source."""

from __future__ import annotations

import argparse
import os
from functools import cache
from typing import Any

from ktui.config.document import Config
from ktui.config.lists import COLUMNS, KEYS, place_of
from ktui.config.resolve import ResolvedValue, preset
from ktui.config.settings import SETTINGS, Setting

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
    return [
        {
            "name": name,
            "cluster": str(context.values.get(context.source) or _kube(context.values)),
            "where": config.file.where("contexts", name),
        }
        for name, context in config.contexts.items()
    ]


def _kube(values: Any) -> str:
    return " ".join(filter(None, ("kubeconfig", values.get("kubeconfig"), values.get("kube_context"))))


def _value(setting: Setting, args: argparse.Namespace) -> ResolvedValue:
    """Return a setting's value in the dashboard, else in the first command that has the setting."""
    values = args.configured.values
    if "dashboard" in setting.commands:
        known: ResolvedValue = values[setting.dest]
        return known
    found = preset(setting, args.configured.config, args.configured.chosen, os.environ)
    return found or ResolvedValue(_default(setting), "default")


def _default(setting: Setting) -> Any:
    return _parser(setting.commands[0]).get_default(setting.dest)


@cache
def _parser(command: str) -> argparse.ArgumentParser:
    from ktui.cli.main import parser_of  # start-up time

    return parser_of(command)


def _row(name: str, value: ResolvedValue, secret: bool = False) -> dict[str, str]:
    return {
        "setting": name,
        "value": _shown(value.value, secret),
        "source": value.source,
        "where": value.where,
    }


def _shown(value: Any, secret: bool) -> str:
    if value is None or value == "":
        return "-"
    if secret:
        name, colon, _ = str(value).partition(":")
        return f"{name}:{MASK}" if colon else MASK
    return str(value).lower() if isinstance(value, bool) else str(value)
