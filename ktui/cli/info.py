"""`ktui info`: files, versions, running servers, and each setting with its source."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ktui.cli import dashboard
from ktui.cli.exit_codes import OK
from ktui.cli.output import emit, emit_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EPILOG = """examples:
  ktui info
  ktui info --context prod --kube-version 1.30        with these options
  ktui info --json | jq '.settings[] | select(.source != "default")'

Passwords and tokens are never shown. Of each setting: default, config (file and line), context, env, or flag.
exit status: 0 printed, 2 usage, or the config file cannot be understood"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "info",
        help="print where everything is, and each setting with its source",
        description="Print where ktui's files are, which versions run, what the terminal can do, and each "
        "setting with where it comes from. Takes the dashboard's options, to show what they change.",
        epilog=EPILOG,
    )
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    dashboard.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    document = report(args)
    if args.json:
        emit_json(document, indent=2)
    else:
        emit("\n".join(_lines(document)))
    return OK


def report(args: argparse.Namespace) -> dict[str, Any]:
    """Return the JSON object of `--json`."""
    from ktui.cli.info_facts import contexts, limits, places, settings, terminal, versions  # start-up time
    from ktui.cli.preferences import problems_of
    from ktui.config.resolve import strange_variables

    configured = args.configured
    config = configured.config
    return {
        "versions": versions(args.etcd_binary or ""),
        "places": places(config.file.path, args.log_file or ""),
        "limits": limits(),
        "terminal": terminal(),
        "context": configured.chosen.context.name if configured.chosen else "",
        "contexts": contexts(config),
        "settings": settings(args),
        "warnings": [*config.warnings, *strange_variables(os.environ), *problems_of(config)],
    }


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "versions"
    yield from _columns([(name, text) for name, text in document["versions"].items()])
    yield "\nplaces"
    yield from _columns(
        [(p["name"], p["path"], "" if p["exists"] else "(not there)") for p in document["places"]]
    )
    yield "\nlimits"
    yield from _columns([(name, text) for name, text in document["limits"].items()])
    yield "\nterminal"
    yield from _columns([(name, str(text)) for name, text in document["terminal"].items()])
    if document["contexts"]:
        yield "\ncontexts"
        rows = [
            ("*" if c["name"] == document["context"] else " ", c["name"], c["cluster"], c["where"])
            for c in document["contexts"]
        ]
        yield from _columns(rows)
    yield "\nsettings"
    yield from _columns([(s["setting"], s["value"], s["where"] or s["source"]) for s in document["settings"]])
    for warning in document["warnings"]:
        yield f"\nwarning: {warning}"


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield lines with aligned columns."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield ("  " + "  ".join(cells)).rstrip()
