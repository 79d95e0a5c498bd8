"""The request chain: the stages that a request passed, each with its decision and time."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content

from ktui.contract.events import ChainStage
from ktui.core.format import milliseconds, safe
from ktui.core.request_chain import chain_of
from ktui.core.state import RequestRow
from ktui.tui.widgets.lines import first_lines, line

_STAGE, _MS = 15, 11  # cells of a stage's name and of its time
_NONE = "this recording has no stages: its server was older"


def chain_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return the stages with their whole decisions, as far as they fit."""
    if row is None:
        return line(("select a request to see its stages", "$ink-muted"))
    return first_lines(chain_lines(chain_of(row), width) or [line((_NONE, "$ink-muted"))], width, height)


def chain_lines(stages: Sequence[ChainStage], width: int, most: int = 99) -> list[Content]:
    """Return `authorization  allowed  0.02 ms`; a long decision is wrapped into at most `most` lines."""
    room = max(10, width - _STAGE - _MS)
    drawn = []
    for stage in stages:
        refused = stage.decision.startswith("refused")
        first, *rest = textwrap.wrap(safe(stage.decision), room, max_lines=most, placeholder=" …") or [""]
        style = "$route-error" if refused else "$foreground"
        drawn.append(
            line(
                (f"{stage.stage:<{_STAGE}}", "$route-error" if refused else "$ink-muted"),
                (f"{first:<{room}}", style),
                (f"{milliseconds(stage.ms)} ms".rjust(_MS), "$foreground"),
            )
        )
        drawn += [line((" " * _STAGE + text, style)) for text in rest]
    return drawn
