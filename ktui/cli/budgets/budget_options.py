"""The options of budgets of `ktui ci` and `ktui audit`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.config.errors import ConfigError

if TYPE_CHECKING:
    from ktui.core.budgets.budget_file import RequestBudget

HEADROOM = 0.2
MOST_PERCENT = 10_000


def add_budget_arguments(parser: argparse._ActionsContainer) -> None:
    """Add `--budget`, `--write-budget`, `--headroom` and `--junit`."""
    add = parser.add_argument
    add("--budget", metavar="FILE", default="", help="judge the requests by this budget file (TOML)")
    add(
        "--write-budget",
        metavar="FILE",
        default="",
        help="write a budget file that these requests keep, with --headroom",
    )
    add(
        "--headroom",
        metavar="PERCENT",
        type=_headroom,
        default=HEADROOM,
        help="what a written budget allows more than was sent (default 20%%)",
    )
    add("--junit", metavar="FILE", default="", help="write a JUnit report: a test case for each budget")


def _headroom(text: str) -> float:
    number = text.strip().removesuffix("%")
    if not number.isdecimal() or int(number) > MOST_PERCENT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage: write it like 20%")
    return int(number) / 100


def check_options(args: argparse.Namespace, *outputs: str) -> list[RequestBudget]:
    """Return the budgets, before anything runs. Raises ConfigError, also for outputs without a directory."""
    from ktui.core.budgets.budget_file import read_budgets  # start-up time

    if args.budget and args.write_budget:
        raise ConfigError(
            "--budget and --write-budget exclude each other: judge a run, or write what it sent"
        )
    for name in (args.write_budget, args.junit, *outputs):
        if name and not Path(name).absolute().parent.is_dir():
            raise ConfigError(f"cannot write {name}: there is no directory {Path(name).parent}")
    return read_budgets(Path(args.budget)) if args.budget else []
