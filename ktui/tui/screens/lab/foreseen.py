"""The prediction panel: verdict, reason, what it promises, other versions, the walk."""

from __future__ import annotations

import textwrap

from textual.content import Content

from ktui.kube.explain import Explanation
from ktui.kube.routing.reasons import REASONS
from ktui.telemetry.events import RouteStep
from ktui.tui.model.foresee import cheaper_of
from ktui.tui.model.format import safe
from ktui.tui.model.lab_predict import Prediction, Problem
from ktui.tui.model.routes import ERROR, badge_of_route
from ktui.tui.widgets.lines import line, lines, longest_that_fits
from ktui.tui.widgets.why import cheaper_lines, versions_line, walk_lines

_INDENT = 2
_ROOMY = 9  # lines; below it each part is cut to its first line or two


def path_content(path: str, width: int, height: int) -> Content:
    """`GET /api/v1/…` broken wherever a line is full: a query has no spaces to break at."""
    text = safe(f"GET {path}") if path else ""
    if len(text) > width * height:
        text = f"{text[: width * height - 1]}…"
    rows = [text[at : at + width] for at in range(0, len(text), max(1, width))]
    return lines([line((row, "$ink-muted")) for row in rows])


def foreseen_content(prediction: Prediction, width: int, height: int) -> Content:
    """What matters most comes first; the walk takes the height that is left, a line at least."""
    explanation = prediction.explanation
    if explanation is None:
        return lines(_problem_lines(prediction.problem, width, height))
    tight = height < _ROOMY
    above = _verdict(prediction, explanation, width, most=2 if tight else height)
    if prediction.problem is None:
        above.append(_promises(prediction, explanation, width))
    above.append(versions_line(prediction.versions, width))
    advice = [*_warnings(explanation, width), *_cheaper(explanation, width)]
    above += advice[: max(1, height - len(above) - 1)] if tight else advice
    steps = [RouteStep(*step) for step in explanation.decision.steps]
    return lines([*above, *walk_lines(steps, width, height - len(above))][:height])


def _verdict(prediction: Prediction, explanation: Explanation, width: int, most: int) -> list[Content]:
    if prediction.problem is not None:
        return _problem_lines(prediction.problem, width, most + 2)  # in the place of what it would promise
    decision = explanation.decision
    badge = badge_of_route(decision.route.value)
    return _badged(badge.letter, badge.style, badge.word, REASONS[decision.reason_id], width, most)


def _problem_lines(problem: Problem | None, width: int, most: int) -> list[Content]:
    if problem is None:
        return []
    word = f"{problem.code} {problem.reason}".strip() if problem.code else "nothing to send"
    return _badged(ERROR.letter, ERROR.style, word, problem.message, width, most)


def _badged(letter: str, style: str, word: str, text: str, width: int, most: int) -> list[Content]:
    """`C watch cache: because …`, wrapped beneath itself into at most `most` lines."""
    texts = textwrap.wrap(
        safe(f"{word}: {text}"), max(10, width - _INDENT), max_lines=max(1, most), placeholder=" …"
    ) or [word]
    first = line((f"{letter} ", style), (texts[0][: len(word)], style), texts[0][len(word) :])
    return [first, *(line((" " * _INDENT + rest, "$foreground")) for rest in texts[1:])]


def _promises(prediction: Prediction, explanation: Explanation, width: int) -> Content:
    """Consistency, limit, waiting, seats."""
    decision = explanation.decision
    parts = [(decision.consistency or "").replace("_", " ") or "no promise"]
    if decision.limit_honoured is not None:
        parts.append("limit honoured" if decision.limit_honoured else "limit ignored")
    parts.append(_seats(prediction, explanation))
    if decision.wait != "none":
        parts.append(f"may wait {decision.wait.replace('_', ' ')}")
    if decision.fallback:
        parts.append(f"else {decision.fallback.replace('_', ' ')}")
    indent = " " * _INDENT
    forms = [line((indent + " · ".join(parts[:count]), "$ink-strong")) for count in range(len(parts), 1, -1)]
    return longest_that_fits(forms, width)


def _seats(prediction: Prediction, explanation: Explanation) -> str:
    seats, between = prediction.seats, explanation.seats
    if seats is None and between.min != between.max:
        return f"{between.min} to {between.max} seats"
    count = between.min if seats is None else seats
    return f"{count} seat{'' if count == 1 else 's'}"


def _warnings(explanation: Explanation, width: int) -> list[Content]:
    drawn = []
    for text in explanation.warnings:
        wrapped = textwrap.wrap(safe(text), max(10, width - _INDENT), max_lines=2, placeholder=" …")
        drawn += [line(("! " if at == 0 else "  ", "bold $warning"), part) for at, part in enumerate(wrapped)]
    return drawn


def _cheaper(explanation: Explanation, width: int) -> list[Content]:
    for advice in explanation.advice[:1]:
        return cheaper_lines(cheaper_of(explanation.request.url, advice), width, 2)
    return []
