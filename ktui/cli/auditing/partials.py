"""`ktui audit --partial OUT` and `ktui audit merge`: count logs on several machines, report on one."""

from __future__ import annotations

from pathlib import Path

from ktui.audit import partial
from ktui.audit.partial import PartialError
from ktui.audit.tally import Tally
from ktui.cli.output import warn
from ktui.core.format import integer
from ktui.documents.limits import DocumentError, read_bytes

MOST_BYTES = 1 << 30


def write(tally: Tally, name: str) -> None:
    """Write the counts of `tally` to a file. Raises PartialError."""
    try:
        Path(name).write_bytes(partial.written(tally))
    except OSError as error:
        raise PartialError(f"cannot write {name}: {error.strerror}") from None
    warn(f"{name}: {integer(tally.lines)} lines counted; `ktui audit merge {name} …` makes a report of it")
    for file in tally.files:
        if file.why_nothing:
            warn(f"{file.name}: {file.why_nothing}")


def merge(tally: Tally, names: list[str]) -> None:
    """Add the counts of the files to `tally`, in the given order. Raises PartialError, OSError."""
    if not names:
        raise PartialError("name files that `ktui audit --partial` wrote")
    for name in names:
        try:
            partial.add(tally, partial.read(read_bytes(Path(name), MOST_BYTES)))
        except (PartialError, DocumentError) as error:
            raise PartialError(f"{name}: {error}") from None
