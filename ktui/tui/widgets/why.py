"""Why a request was routed as it was: the verdict, its cost, other versions, the walk."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content

from ktui.tui.model.foresee import Cheaper, Foreseen, Outlook
from ktui.tui.model.format import integer, long_bytes, milliseconds, safe
from ktui.tui.model.request_view import request_runs
from ktui.tui.model.routes import badge_of, badge_of_route
from ktui.tui.model.state import RequestRow, RouteStep
from ktui.tui.widgets.lines import between, line, lines, longest_that_fits, pad

_INDENT = 2
_BELOW_VERDICT = 6  # lines kept for cost, versions, cheaper form and the deciding step
_WIDEST_WALK = 96  # cells; beyond it "yes" and "no" stand too far from their questions


def why_content(row: RequestRow | None, outlook: Outlook, width: int, height: int) -> Content:
    """The panel for one request; what matters most comes first, the walk takes what height is left."""
    if row is None:
        return line(("select a request to see its route and why", "$ink-muted"))
    verdict = verdict_lines(row, width, most=max(2, height - _BELOW_VERDICT))
    above = [*verdict, cost_line(row, width)]
    if outlook.versions:
        above.append(versions_line(outlook.versions, width))
    above += [text for advice in outlook.cheaper[:1] for text in cheaper_lines(advice, width, 2)]
    left = height - len(above)
    return lines([*above, *walk_lines(row.steps, width, left)][:height])


def verdict_lines(row: RequestRow, width: int, most: int = 99) -> list[Content]:
    """`E  etcd: because …`, wrapped into at most `most` lines; an error answer says its message instead."""
    badge = badge_of(row)
    if row.failed and row.finished is not None:
        said, word = row.finished.error or row.reason, f"{row.status} {badge.word}"
    else:
        said, word = _said(row), badge_of_route(row.route).word if row.route else "under way"
    if row.waiting:
        word = "waiting for the watch cache"
    text, room = safe(f"{word}: {said}" if said else word), max(10, width - _INDENT)
    texts = textwrap.wrap(text, room, max_lines=most, placeholder=" …", break_on_hyphens=False) or [word]
    head, *rest = texts
    first = line((f"{badge.letter} ", badge.style), (head[: len(word)], badge.style), head[len(word) :])
    return [first, *(line((" " * _INDENT + text, "$foreground")) for text in rest)]


def _said(row: RequestRow) -> str:
    """The server's reason; writes are not routed, they have one way to go."""
    if row.reason:
        return row.reason
    if not row.done:
        return ""
    if row.route == "etcd":
        return "a write: one transaction on the key's mod_revision; the watch cache learns of it by its watch"
    return ""


def cost_line(row: RequestRow, width: int) -> Content:
    """What it took: scanned → sent, bytes, ms, seats, etcd."""
    done = row.finished
    indent = " " * _INDENT
    if done is None:
        return line((f"{indent}no answer yet", "$ink-muted"))
    seats = f"{done.seats} seat{'s' if done.seats != 1 else ''}"
    rpcs = f"{done.etcd_rpcs} etcd RPC" if done.etcd_rpcs else "no etcd RPC"
    read = f" {long_bytes(done.etcd_bytes)}" if done.etcd_bytes else ""
    objects = f"{integer(done.fetched)} scanned → {integer(done.returned)} sent"
    parts = [objects, long_bytes(done.sent_bytes), f"{milliseconds(done.ms)} ms", seats, f"{rpcs}{read}"]
    forms = [line((indent + " · ".join(parts[:count]), "$ink-strong")) for count in range(len(parts), 2, -1)]
    return longest_that_fits(forms, width)


def versions_line(foreseen: Sequence[Foreseen], width: int) -> Content:
    """`1.24 E · 1.31 C · 1.36 C`, the version in force set off."""
    runs: list[tuple[str, str]] = [(" " * _INDENT, "")]
    for index, one in enumerate(foreseen):
        badge = badge_of_route(one.route)
        letter = "!" if one.route == "none" else badge.letter
        style = "$route-error bold" if one.route == "none" else badge.style
        runs += [(" · ", "$ink-faint")] if index else []
        runs.append((one.version, "$ink-strong underline" if one.current else "$ink-muted"))
        runs += [(" ", ""), (letter, style)]
    return line(*runs).truncate(width, ellipsis=True)


def cheaper_lines(advice: Cheaper, width: int, most: int) -> list[Content]:
    """`cheaper: add resourceVersion=0 — why`, in at most `most` lines."""
    label = "cheaper: "
    text = safe(f"{label}{advice.change} — {advice.why}")
    texts = textwrap.wrap(text, max(10, width - _INDENT), max_lines=most, placeholder=" …")
    indent = " " * _INDENT
    first = line(indent, (label, "bold $success"), (texts[0][len(label) :], "$foreground"))
    return [first, *(line(indent, (text, "$foreground")) for text in texts[1:])]


def walk_lines(steps: Sequence[RouteStep], width: int, height: int) -> list[Content]:
    """The predicates in order with the values they saw; the decisive ones survive a lack of height."""
    if not steps or height < 1:
        return []
    width = min(width, _WIDEST_WALK)
    kept = list(enumerate(steps, 1))
    hidden = 0
    while len(kept) > height - (1 if hidden else 0) and len(kept) > 1:
        undecided = [entry for entry in kept if not entry[1].taken] or kept
        kept.remove(undecided[0])
        hidden += 1
    rule_width = min(max(len(safe(step.rule)) for _, step in kept), max(12, width - _INDENT - 18))
    drawn = [_step(number, step, rule_width, width) for number, step in kept]
    if hidden and height > len(drawn):
        drawn.append(line((f"  … {hidden} more", "$ink-muted")))
    return drawn


def _step(number: int, step: RouteStep, rule_width: int, width: int) -> Content:
    verdict = ("yes", "bold $accent") if step.taken else ("no", "$ink-muted")
    left = line(
        (f"{number:>2} ", "$ink-faint"),
        (pad(step.rule, rule_width), "$ink-strong" if step.taken else "$ink-muted"),
        ("  ", ""),
        (step.saw, "$foreground" if step.taken else "$ink-muted"),
    )
    room = max(8, width - 5)
    if left.cell_length > room:
        left = left.truncate(room, ellipsis=True)
    return between(left, line(verdict), width)


def title_of(row: RequestRow | None) -> Content:
    """The panel's title: the request it speaks of."""
    if row is None:
        return Content("why")
    return line(("why  ", ""), *request_runs(row))
