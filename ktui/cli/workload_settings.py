"""Knobs from the command line: one set, or two for a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ktui.documents.limits import DocumentError
from ktui.documents.toml import parse_toml, read_toml_text
from ktui.workloads.running.knobs import Knobs, WorkloadError, assign, written
from ktui.workloads.running.workload import Workload


def variants_of(workload: Workload, settings: Sequence[str], compare: Sequence[str] | None) -> list[Knobs]:
    """Return one set of knobs, or two with `--compare`. Raises WorkloadError."""
    if compare is None:
        knobs = workload.settings()
        assign(knobs, settings)
        return [knobs]
    if compare:
        if len(compare) != 2:
            raise WorkloadError(
                f"--compare takes two files, or none with a knob given twice; not {len(compare)}"
            )
        return [_from_file(workload, settings, name) for name in compare]
    return _from_repeated_knobs(workload, settings)


def _from_repeated_knobs(workload: Workload, settings: Sequence[str]) -> list[Knobs]:
    known = workload.settings()
    names = [known.find(word.partition("=")[0].strip()).name for word in settings]
    if not any(names.count(name) == 2 for name in names) or any(names.count(name) > 2 for name in names):
        raise WorkloadError("--compare without files needs a knob given twice: --set rv=0 --set rv=unset")
    sides = []
    for side in (0, 1):
        knobs = workload.settings()
        for name in dict.fromkeys(names):
            given = [word for word, of in zip(settings, names, strict=True) if of == name]
            assign(knobs, [given[min(side, len(given) - 1)]])
        sides.append(knobs)
    return sides


def _from_file(workload: Workload, settings: Sequence[str], name: str) -> Knobs:
    """Return the `[knobs]` of a TOML file; `--set` takes precedence, in both files. Raises WorkloadError."""
    path = Path(name).expanduser()
    try:
        document: dict[str, Any] = parse_toml(read_toml_text(path))
    except OSError as error:
        raise WorkloadError(f"cannot read {name}: {error.strerror}") from error
    except DocumentError as error:
        raise WorkloadError(f"cannot read {name}: {error}") from error
    values = document.get("knobs")
    if not isinstance(values, dict):
        raise WorkloadError(f"{name} has no [knobs] table")
    knobs = workload.settings()
    for knob, value in values.items():
        if not isinstance(value, str | int | float | bool):
            raise WorkloadError(f"{name}: {knob} is not a text, a number or a boolean")
        knobs.set(knob, written(value))
    assign(knobs, settings)
    return knobs
