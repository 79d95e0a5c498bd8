"""The result under the cursor: where it came from, and the same request from a shell."""

from __future__ import annotations

import textwrap

from textual.content import Content

from ktui.tui.model.format import integer, long_bytes, milliseconds, safe
from ktui.tui.model.lab import as_curl, as_kubectl
from ktui.tui.model.lab_result import LabResult
from ktui.tui.model.routes import badge_of_route
from ktui.tui.screens.lab.columns import badge_of_result
from ktui.tui.widgets.lines import line, lines


def detail_content(result: LabResult, width: int, height: int) -> Content:
    drawn = [_verdict(result), _cost(result)]
    for command in (as_kubectl(result.path), as_curl(result.path, result.form)):
        drawn += _command(command, width)
    return lines(drawn[:height])


def _verdict(result: LabResult) -> Content:
    badge = badge_of_result(result)
    if not result.ok:
        return line((f"{badge.letter} ", badge.style), (result.error or "on its way", badge.style))
    said = f": {result.reason}" if result.reason else ""
    surprise = ""
    if result.surprising:
        surprise = f"  — foreseen was {badge_of_route(result.predicted).word}"
    return line(
        (f"{badge.letter} ", badge.style),
        (badge_of_route(result.route).word, badge.style),
        (said, "$foreground"),
        (surprise, "bold $warning"),
    )


def _cost(result: LabResult) -> Content:
    cost = result.measures
    keys = cost.etcd_keys
    etcd = "…" if keys is None else f"{integer(keys)} etcd key{'' if keys == 1 else 's'}"
    parts = [
        etcd,
        f"{integer(cost.fetched)} fetched → {integer(cost.evaluated)} evaluated",
        f"{integer(cost.returned)} sent",
        long_bytes(cost.bytes),
        f"first byte {milliseconds(cost.first_byte_ms)} ms, all {milliseconds(cost.ms)} ms",
        *([f"rv {result.rv}"] if result.rv else []),
        *([f"{integer(result.remaining)} remain"] if result.remaining else []),
    ]
    return line(("  " + " · ".join(parts), "$ink-strong"))


def _command(command: str, width: int) -> list[Content]:
    wrapped = textwrap.wrap(safe(command), max(10, width - 2), break_on_hyphens=False)
    return [line(("$ " if at == 0 else "  ", "$accent"), (part, "")) for at, part in enumerate(wrapped)]


def result_document(result: LabResult) -> dict[str, object]:
    """What `y` shows: everything known of one result."""
    cost = result.measures
    return {
        "path": result.path,
        "kubectl": as_kubectl(result.path),
        "curl": as_curl(result.path, result.form),
        "status": result.status,
        "predicted": result.predicted,
        "route": result.route,
        "reason_id": result.reason_id,
        "reason": result.reason,
        "error": result.error,
        "rv": result.rv,
        "continue": result.continue_token,
        "requests": cost.requests,
        "etcd": {"keys": cost.etcd_keys, "bytes": cost.etcd_bytes},
        "objects": {"fetched": cost.fetched, "evaluated": cost.evaluated, "returned": cost.returned},
        "bytes": cost.bytes,
        "ms": {"first_byte": round(cost.first_byte_ms, 3), "total": round(cost.ms, 3)},
        "seats": cost.seats,
    }
