"""The walk of one decision, and the etcd reads that followed from it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content

from ktui.tui.model.foresee import Outlook
from ktui.tui.model.format import integer, long_bytes, milliseconds, safe
from ktui.tui.model.state import RequestRow, RouteStep
from ktui.tui.model.walkthrough import as_curl, as_kubectl
from ktui.tui.widgets.lines import line, lines
from ktui.tui.widgets.why import cheaper_lines, cost_line, verdict_lines, versions_line, walk_lines


def walk_content(row: RequestRow | None, outlook: Outlook, width: int, height: int) -> Content:
    """Predicates first, in order, then where they led, what that cost and what other versions do."""
    if row is None:
        return line(("select a request to see its walk", "$ink-muted"))
    after = [*verdict_lines(row, width), cost_line(row, width)]
    if outlook.versions:
        after.append(versions_line(outlook.versions, width))
    after += [text for advice in outlook.cheaper for text in cheaper_lines(advice, width, 3)]
    steps = headed_steps(row.steps, width, max(1, height - len(after) - 1))
    rule = [line(("  └" + "─" * 3 + "▶", "$ink-faint"))] if len(steps) + len(after) < height else []
    return lines([*steps, *rule, *after][:height])


def headed_steps(steps: Sequence[RouteStep], width: int, height: int) -> list[Content]:
    """The steps under the functions of kube-apiserver that ask them, where height allows."""
    phases = [step.phase for step in steps]
    headings = sum(phase != before for before, phase in zip(["", *phases], phases, strict=False))
    painted = walk_lines(steps, width, height)
    if len(steps) + headings > height or not all(phases):
        return painted
    drawn: list[Content] = []
    for before, phase, step in zip(["", *phases], phases, painted, strict=False):
        if phase != before:
            drawn.append(line((phase, "bold $primary")))
        drawn.append(step)
    return drawn


def calls_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Each etcd RPC of the request in etcd's own text form."""
    if row is None:
        return Content("")
    if not row.calls:
        text = "none: answered from memory" if row.done else "none yet"
        return line((text, "$ink-muted"))
    drawn: list[Content] = []
    for call in row.calls:
        count = f"{integer(call.count)} keys · " if call.count else ""
        cost = f"{count}{long_bytes(call.received_bytes)} · {milliseconds(call.ms)} ms"
        drawn.append(
            line(
                (f"{call.op} ", "bold $route-etcd"),
                (f"{call.purpose}  ", "$ink-muted"),
                (cost, "$foreground"),
            )
        )
        drawn += [
            line(("  " + text, "$ink-muted"))
            for text in textwrap.wrap(safe(call.request), max(10, width - 2))
        ]
        if call.error:
            drawn.append(line(("  " + call.error, "$route-error")))
    return lines(drawn[:height])


def command_content(row: RequestRow | None, server: str, width: int, height: int) -> Content:
    """The same request from a shell."""
    if row is None:
        return Content("")
    drawn: list[Content] = []
    for text in (as_kubectl(row), as_curl(row, server)):
        wrapped = textwrap.wrap(safe(text), max(10, width - 2), break_on_hyphens=False)
        drawn += [
            line(("$ " if index == 0 else "  ", "$accent"), (part, "$foreground"))
            for index, part in enumerate(wrapped)
        ]
    return lines(drawn[:height])
