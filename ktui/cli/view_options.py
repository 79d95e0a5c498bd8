"""The dashboard's preferences from options, environment and config file, with their checks."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ktui.config.document import COLUMNS, KEYS, Config, place_of
from ktui.config.errors import ConfigError, InvalidEntry, nearest
from ktui.config.places import state_home, theme_names
from ktui.tui.table.column_ids import check_columns

if TYPE_CHECKING:
    from pathlib import Path

    from ktui.tui.preferences import Preferences


def check_theme(args: argparse.Namespace) -> None:
    """Raise ConfigError if `--theme` is neither one of ktui's themes nor of Textual's."""
    name = args.theme
    known = theme_names(os.environ) if name else []
    if not name or name in known:
        return
    from textual.theme import BUILTIN_THEMES  # start-up time

    if name in BUILTIN_THEMES:
        return
    value = args.configured.values["theme"]
    raise ConfigError(f"{value.where}: there is no theme {name!r}; {nearest(name, known)}")


def preferences_of(args: argparse.Namespace, kube_context: str = "") -> Preferences:
    """Return the preferences of the dashboard or the audit's screens; `kube_context` is the Lab's."""
    from ktui.tui.preferences import Preferences  # start-up time

    config = args.configured.config
    tour = state_home(os.environ) / "tour"
    return Preferences(
        theme=args.theme or "", symbols=getattr(args, "symbols", None) or "", keymap=config.keys,
        columns=config.columns, kube_context=kube_context, story=getattr(args, "story", False),
        tour_is_new=not getattr(args, "screenshot", None) and not tour.exists(),
        remember_tour=lambda: _remember(tour), mistakes=lambda: problems_of(config),
    )  # fmt: skip


def _remember(tour: Path) -> None:
    """Offer the tour no more; without a writable state directory it is offered again."""
    with contextlib.suppress(OSError):
        tour.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        tour.touch(mode=0o600)


def problems_of(config: Config) -> list[str]:
    """Return what is wrong in `[keys]` and `[columns]`, with file and line. Loads all screens for `[keys]`.

    These problems never block startup: valid entries work, the dashboard and `ktui info` report the rest.
    """
    found = [*_sentences(config, COLUMNS, check_columns(config.columns))]
    if config.keys:
        from ktui.tui.keys.keymap import check_keymap  # start-up time

        found += _sentences(config, KEYS, check_keymap(config.keys))
    return found


def _sentences(config: Config, table: str, problems: Iterable[InvalidEntry]) -> Iterator[str]:
    for problem in problems:
        yield f"{place_of(config.file, table, problem.id)}: [{table}] {problem.text}"


def kube_context_of(args: argparse.Namespace) -> str:
    """Return the kubeconfig context to which the Lab sends, "" for none. Raises ClientError.

    The Lab reads `$KUBECONFIG` as kubectl does, so `--kubeconfig` sets that variable.
    """
    if args.aim or not (args.kubeconfig or args.context):
        return str(args.aim)
    from pathlib import Path  # start-up time

    from ktui.client.connection import ClientError
    from ktui.client.kubeconfig_reader import kubeconfig_files, read_contexts

    if args.kubeconfig:
        os.environ["KUBECONFIG"] = str(Path(args.kubeconfig).expanduser())
    files = kubeconfig_files()
    names, current = read_contexts(files)
    chosen: str = args.context or current
    where = ", ".join(map(str, files))
    if not chosen:
        raise ClientError(f"{where} names no current-context: choose one with --context")
    if chosen not in names:
        raise ClientError(f"{where} has no context {chosen!r}; {nearest(chosen, names)}")
    return chosen
