"""Where the recordings are, and the numbers of docs/fidelity.md that a replay must reach."""

from __future__ import annotations

import lzma
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests" / "fidelity" / "recordings"
ORACLE, FUZZ = RECORDINGS / "oracle", RECORDINGS / "fuzz"
TRACES, LIVE, WIRE = RECORDINGS / "traces", RECORDINGS / "live", RECORDINGS / "wire"
DOCUMENT = ROOT / "docs" / "fidelity.md"

# The rows of the table of random requests, by the group of the replay.
GENERATED_ROWS = {
    "reads": "LIST, GET, pages, WATCH",
    "interleaved": "events of watches during writes, and these writes",
    "writes": "writes: status, reason, body",
    "stored": "objects as stored afterwards",
    "paths": "other paths and methods",
}

Count = tuple[int, int]  # how many agree, of how many


@dataclass(frozen=True, slots=True)
class Profile:
    """A setting of the recorded server: the options of `ktui serve`, and the documented counts."""

    name: str
    options: tuple[str, ...]
    answers: Count
    costs: Count | None


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the documents of a packed file, one a line."""
    with lzma.open(file) as packed:
        for line in packed:
            yield msgspec.json.decode(line)


def document(file: Path) -> dict[str, Any]:
    """Return a JSON file's object."""
    found: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    return found


def profiles() -> dict[str, Profile]:
    """Return the profiles of docs/fidelity.md, in its order."""
    found = {}
    for cells in _table_rows("profile"):
        name, options, answers, costs = cells
        words = tuple(shlex.split(options.strip("`")))
        if "--no-assume-watch-progress" not in words:
            words += ("--assume-watch-progress",)
        found[name] = Profile(name, words, _count(answers) or (0, 0), _count(costs))
    return found


def generated() -> dict[str, Count]:
    """Return the documented counts of the random requests, by group."""
    rows = {cells[0]: _count(cells[1]) for cells in _table_rows("this generator's requests")}
    return {group: rows[title] or (0, 0) for group, title in GENERATED_ROWS.items()}


def same_bytes() -> Count:
    """Return the documented share of random answers that are the same bytes, as percents."""
    found = re.search(r"(\d+) % are also equal byte for byte", DOCUMENT.read_text())
    return (int(found.group(1)) if found else 0), 100


def _table_rows(first_title: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the table whose first column has this title."""
    inside = False
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == first_title:
            inside = True
        elif inside and set(cells[0]) != {"-"}:
            yield cells


def _count(text: str) -> Count | None:
    """Read `2,990 of 2,993 (99.9 %)`; None for what is not counted."""
    found = re.match(r"([\d,]+) of ([\d,]+)", text)
    if found is None:
        return None
    agree, of = (int(number.replace(",", "")) for number in found.groups())
    return agree, of
