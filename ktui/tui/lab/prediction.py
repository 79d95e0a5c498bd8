"""The panel with the prediction: route, reason, guarantees, other versions, decision trace."""

from __future__ import annotations

import textwrap

from textual.content import Content

from ktui.contract.events import RouteStep
from ktui.core.format import safe
from ktui.core.lab.predict import LabPrediction, PredictedError
from ktui.core.prediction.predict import cheaper_of
from ktui.core.routes import ERROR, badge_of_route
from ktui.kube.explain import Explanation
from ktui.kube.routing import sentences
from ktui.kube.seats import PRIORITY_LEVEL_CAPS_SINCE
from ktui.tui.requests.decision_trace import headed_steps
from ktui.tui.requests.why import INDENT, badged_lines, cheaper_lines, versions_line
from ktui.tui.widgets.lines import line, lines, parts_that_fit

_ROOMY = 9  # lines; below, each part is cut to a line or two


def prediction_content(prediction: LabPrediction, width: int, height: int) -> Content:
    """Return the lines, most important first; the trace takes the remaining height, at least a line."""
    explanation = prediction.explanation
    if explanation is None:
        return lines(_problem_lines(prediction.problem, width, height))
    tight = height < _ROOMY
    above = _verdict(prediction, explanation, width, most=2 if tight else height)
    if prediction.problem is None:
        above.append(_guarantees(prediction, explanation, width))
    above.append(versions_line(prediction.versions, width))
    left = max(1, height - len(above) - 1) if tight else height
    warnings = _warnings(explanation, width, left)
    above += [*warnings, *_cheaper(explanation, width, min(2, left - len(warnings)))]
    steps = sentences.trace(explanation.plan, RouteStep)
    return lines([*above, *headed_steps(steps, width, height - len(above))][:height])


def _verdict(prediction: LabPrediction, explanation: Explanation, width: int, most: int) -> list[Content]:
    if prediction.problem is not None:
        return _problem_lines(prediction.problem, width, most + 2)  # in the guarantees' place
    plan = explanation.plan
    badge = badge_of_route(plan.source.value)
    return badged_lines(badge, badge.word, sentences.reason(plan), width, most)


def _problem_lines(problem: PredictedError | None, width: int, most: int) -> list[Content]:
    if problem is None:
        return []
    word = f"{problem.code} {problem.reason}".strip() if problem.code else "nothing to send"
    return badged_lines(ERROR, word, problem.message, width, most)


def _guarantees(prediction: LabPrediction, explanation: Explanation, width: int) -> Content:
    """Return a line on consistency, limit, seats and waiting."""
    parts = sentences.guarantees(explanation.plan, _seats(prediction, explanation))
    return parts_that_fit(parts, width, "$ink-strong", indent=" " * INDENT, least=2)


def _seats(prediction: LabPrediction, explanation: Explanation) -> str:
    between = explanation.seats
    low, high = between if prediction.seats is None else (prediction.seats, prediction.seats)
    capped = explanation.level is None and explanation.behaviour.minor >= PRIORITY_LEVEL_CAPS_SINCE
    if capped and high > 1:
        return f"{min(low, between.min)}–{high} seats, level not known"
    text = str(low) if low == high else f"{low} to {high}"
    return f"{text} seat{'' if high == 1 else 's'}"


def _warnings(explanation: Explanation, width: int, most: int) -> list[Content]:
    drawn: list[Content] = []
    for text in explanation.warnings:
        if len(drawn) == most:
            break
        room = min(2, most - len(drawn))
        wrapped = textwrap.wrap(safe(text), max(10, width - INDENT), max_lines=room, placeholder=" …")
        drawn += [line(("! " if at == 0 else "  ", "bold $warning"), part) for at, part in enumerate(wrapped)]
    return drawn


def _cheaper(explanation: Explanation, width: int, most: int) -> list[Content]:
    for advice in explanation.advice[:1] if most else ():
        return cheaper_lines(cheaper_of(explanation.request.url, advice), width, most)
    return []
