"""Why a request took its route: verdict, cost, other versions, decision trace; its chain and etcd reads."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from ktui.contract.events import ChainStage, RouteStep
from ktui.core.format import clock_time, integer, long_bytes, many, milliseconds, safe
from ktui.core.ranking.remedy import Alternative, Alternatives, VersionRoute
from ktui.core.request_view import READS, chain_of, request_runs, unfinished
from ktui.core.rows import ERROR, Badge, badge_of, badge_of_route
from ktui.core.state import RequestRow
from ktui.tui.widgets.lines import broken, first_lines, line, lines, pad, parts_that_fit, wrap, wrapped

_BELOW_VERDICT = 6  # lines kept for cost, versions, cheaper variant and the deciding step
_STEP_FRAME = 10  # cells of a step besides rule and value: its number, gaps, the verdict
_LEAST_RULE, _LEAST_SAW = 12, 16  # cells of a rule and of its value (`cache at 1234567`)


def why_content(row: RequestRow | None, alternatives: Alternatives, width: int, height: int) -> Content:
    """Return the panel's lines, the most important first; the decision trace takes the remaining height."""
    if row is None:
        return line(("select a request to see its route and why", "$ink-muted"))
    verdict = verdict_lines(row, width, most=max(2, height - _BELOW_VERDICT))
    above = [*verdict, cost_line(row, width)]
    if alternatives.versions:
        above.append(versions_line(alternatives.versions))
    above += [text for advice in alternatives.cheaper[:1] for text in cheaper_lines(advice, width, 2)]
    left = height - len(above)
    return lines([*above, *trace_lines(row.steps, width, left)][:height])


def verdict_lines(row: RequestRow, width: int, most: int = 99) -> list[Content]:
    """Return `E  etcd: because …`, or an error's message, wrapped into at most `most` lines."""
    badge, text = badge_of(row), row.reason
    if row.failed and row.finished is not None:
        text, word = row.finished.error or row.reason, f"{row.status} {badge.word}"
    else:
        word = badge_of_route(row.route).word if row.route else "in progress"
        if not row.reason and row.done and row.route == "etcd":
            by_its_watch = "the watch cache receives it by its watch"
            text = f"a write: one transaction on the key's mod_revision; {by_its_watch}"
    if row.waiting:
        word = "waiting for the watch cache"
    return badged_lines(badge, word, text, width, most, hyphens=False)


def cost_line(row: RequestRow, width: int) -> Content:
    """Return what the request cost: scanned → returned, bytes, ms, seats, etcd RPCs."""
    done, indent = row.finished, " " * INDENT
    if done is None:
        return line((f"{indent}{unfinished(row)}", "$ink-muted"))
    rpcs = f"{done.etcd_rpcs} etcd RPC" if done.etcd_rpcs else "no etcd RPCs"
    read = f" {long_bytes(done.etcd_bytes)}" if done.etcd_bytes else ""
    objects = f"{integer(done.fetched)} scanned → {integer(done.returned)} returned"
    parts = ["objects: not in the trace" if "fetched" in done.untold else objects]
    parts += [] if "sent_bytes" in done.untold else [long_bytes(done.sent_bytes)]
    parts.append(f"{milliseconds(done.ms)} ms")
    parts += [] if "seats" in done.untold else [f"{done.seats} seat{'s' if done.seats != 1 else ''}"]
    return parts_that_fit([*parts, f"{rpcs}{read}"], width, "$ink-strong", indent=indent, least=3)


def versions_line(routes: Sequence[VersionRoute]) -> Content:
    """Return `1.24 E · 1.31 C · 1.36 C`, with the current version underlined."""
    runs: list[tuple[str, str]] = [(" " * INDENT, "")]
    for index, item in enumerate(routes):
        badge = ERROR if item.route == "none" else badge_of_route(item.route)
        runs += [(" · ", "$ink-faint")] if index else []
        runs.append((item.version, "$ink-strong underline" if item.current else "$ink-muted"))
        runs += [(" ", ""), badge.run]
    return line(*runs)


def cheaper_lines(advice: Alternative, width: int, most: int) -> list[Content]:
    """Return `cheaper: add resourceVersion=0 — why`, in at most `most` lines."""
    label = "smaller: " if advice.smaller else "cheaper: "
    phrase = f"{advice.change} — {advice.why}" if advice.change else advice.why
    first, *more = wrap(f"{label}{phrase}", width - INDENT, most)
    indent = " " * INDENT
    head = line(indent, (label, f"bold {advice.style}"), (first[len(label) :], "$foreground"))
    return [head, *(line(indent, (text, "$foreground")) for text in more)]


def trace_lines(steps: Sequence[RouteStep], width: int, height: int) -> list[Content]:
    """Return the predicates in order with their values; where the height is small, the decisive ones."""
    if not steps or height < 1:
        return []
    kept = list(enumerate(steps, 1))
    hidden: list[RouteStep] = []
    while len(kept) > height - (1 if hidden else 0) and len(kept) > 1:
        undecided = [entry for entry in kept if not entry[1].taken] or kept
        kept.remove(undecided[0])
        hidden.append(undecided[0][1])
    blocks = step_blocks(kept, width, height - (1 if hidden else 0))
    drawn = [text for block in blocks for text in block]
    if hidden and height > len(drawn):
        undecisive = " that did not decide" if not any(step.taken for step in hidden) else ""
        drawn.append(line((f"  … {len(hidden)} more{undecisive}", "$ink-muted")))
    return drawn


def step_blocks(
    numbered: Sequence[tuple[int, RouteStep]], width: int, height: int
) -> list[tuple[Content, ...]]:
    """Return the lines of each step: one, or two where the value does not fit and the height allows."""
    if not numbered:  # not routed yet, or answered before routing
        return []
    # Rules and values are as wide as needed; the rules give way first.
    rules = [len(safe(step.rule)) for _, step in numbered]
    values = [len(safe(step.saw)) for _, step in numbered]
    room = width - _STEP_FRAME
    saw = min(max(values), max(_LEAST_SAW, room - max(rules)))
    rule, saw = max(_LEAST_RULE, min(max(rules), room - saw)), max(1, saw)
    long = [value > saw or text > rule for text, value in zip(rules, values, strict=True)]
    if len(numbered) + sum(long) > height:  # then only for steps that decided
        long = [is_long and step.taken for is_long, (_, step) in zip(long, numbered, strict=True)]
    if len(numbered) + sum(long) > height:
        long = [False] * len(numbered)
    return [
        (_step(number, step, rule + saw + 2, 0), line((f"   {step.saw}", "$ink-muted")))
        if tall
        else (_step(number, step, rule, saw),)
        for (number, step), tall in zip(numbered, long, strict=True)
    ]


def _step(number: int, step: RouteStep, rule_width: int, saw_width: int) -> Content:
    """Return a step's line: number, rule, value, and next to it the verdict."""
    from ktui.kube.routing.predicates import result  # start-up time

    verdict = (result(step.rule, step.taken), "bold $accent" if step.taken else "$ink-muted")
    saw = [(pad(step.saw, saw_width) + "  ", "$foreground" if step.taken else "$ink-muted")]
    return line(
        (f"{number:>2} ", "$ink-faint"),
        (pad(step.rule, rule_width) + "  ", "$ink-strong" if step.taken else "$ink-muted"),
        *(saw if saw_width else ()),
        verdict,
    )


def title_of(row: RequestRow | None, *, pinned: bool = False) -> Content:
    """Return the panel's title, with the request; of a pinned one also its time."""
    if row is None:
        return Content("why")
    at = f"why · pinned {clock_time(row.at)}  " if pinned else "why  "
    return line((at, ""), *request_runs(row))


INDENT = 2  # cells before the second and further lines


def badged_lines(
    badge: Badge, word: str, why: str, width: int, most: int, *, hyphens: bool = True
) -> list[Content]:
    """Return `E etcd: because …`, wrapped and indented into at most `most` lines.

    `word` has the badge's style. With `hyphens` a line may break after a hyphen.
    """
    text = f"{word}: {why}" if why else word
    head, *rest = wrap(text, width - INDENT, max(1, most), hyphens=hyphens)
    first = line((f"{badge.letter} ", badge.style), (head[: len(word)], badge.style), head[len(word) :])
    return [first, *(line((" " * INDENT + text, "$foreground")) for text in rest)]


_STAGE, _MS = 15, 11  # cells of a stage's name and of its time
_NONE = "this recording has no stages: its server was older"


def chain_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return the stages that a request passed, with their whole decisions and times, as far as they fit."""
    if row is None:
        return line(("select a request to see its stages", "$ink-muted"))
    return first_lines(chain_lines(chain_of(row), width) or [line((_NONE, "$ink-muted"))], width, height)


def chain_lines(stages: Sequence[ChainStage], width: int, most: int = 99) -> list[Content]:
    """Return `authorization  allowed  0.02 ms`; a long decision is wrapped into at most `most` lines."""
    room = max(10, width - _STAGE - _MS)
    drawn = []
    for stage in stages:
        refused = stage.decision.startswith("refused")
        first, *rest = wrap(stage.decision, room, most)
        style = "$route-error" if refused else "$foreground"
        name = (f"{stage.stage:<{_STAGE}}", "$route-error" if refused else "$ink-muted")
        took = (f"{milliseconds(stage.ms)} ms".rjust(_MS), "$foreground")
        drawn.append(line(name, (f"{first:<{room}}", style), took))
        drawn += [line((" " * _STAGE + text, style)) for text in rest]
    return drawn


def trace_content(row: RequestRow | None, alternatives: Alternatives, width: int, height: int) -> Content:
    """Return the request chain, if the height allows, the predicates, route, cost, and other versions."""
    if row is None:
        return line(("select a request to see its decision trace", "$ink-muted"))
    after = [*verdict_lines(row, width), cost_line(row, width)]
    if alternatives.versions:
        after.append(versions_line(alternatives.versions))
    after += [text for advice in alternatives.cheaper for text in cheaper_lines(advice, width, 3)]
    steps = headed_steps(row.steps, width, max(1, height - len(after) - 1))
    rule = [line(("  └───▶", "$ink-faint"))] if len(steps) + len(after) < height else []
    trace = [*steps, *rule, *after]
    chain = chain_lines(chain_of(row), width, most=1)
    above = [*chain, Content("")] if chain and len(chain) < height - len(trace) else []
    return lines([*above, *trace][:height])


def headed_steps(steps: Sequence[RouteStep], width: int, height: int) -> list[Content]:
    """Return the steps, if the height allows below the kube-apiserver functions that check them."""
    phases = [step.phase for step in steps]
    headings = sum(phase != before for before, phase in zip(["", *phases], phases, strict=False))
    if len(steps) + headings > height or not all(phases):
        return trace_lines(steps, width, height)
    blocks = step_blocks(list(enumerate(steps, 1)), width, height - headings)
    drawn: list[Content] = []
    for before, phase, block in zip(["", *phases], phases, blocks, strict=False):
        if phase != before:
            drawn.append(line((phase, "bold $primary")))
        drawn += block
    return drawn


def calls_content(row: RequestRow | None, width: int, height: int) -> Content:
    """Return each etcd RPC of the request in etcd's text form."""
    if row is None:
        return Content("")
    if not row.calls:
        none = "none: refused before anything was read" if row.failed else "none: served from the cache"
        if row.finished is None:
            none = "none yet"
        elif row.finished.untold:
            rpcs = many(row.finished.etcd_rpcs, "RPC")
            none = f"{rpcs}; a trace has neither their keys nor their bytes"
        return line((none, "$ink-muted"))
    drawn: list[Content] = []
    for call in row.calls:
        count = f"{many(call.count, 'key')} · " if call.count else ""
        cost = (f"{count}{long_bytes(call.received_bytes)} · {milliseconds(call.ms)} ms", "$foreground")
        drawn.append(line((f"{call.op} ", "bold $route-etcd"), (f"{call.purpose}  ", "$ink-muted"), cost))
        drawn += wrapped(call.request, width, "$ink-muted", indent="  ")
        if call.error:
            drawn.append(line(("  " + call.error, "$route-error")))
    return first_lines(drawn, width, height)


def command_content(row: RequestRow | None, server: str, width: int, height: int) -> Content:
    """Return kubectl and curl commands for the same read, each with at least its first line."""
    from ktui.core.snippets import as_kubectl, read_as_curl  # start-up time

    if row is None:
        return Content("")
    if row.started.verb not in READS:
        return line(("only reads have a command: no body is kept", "$ink-muted"))
    room = max(1, height - 1)
    kubectl = _command(as_kubectl(row.target), width, room)
    left = height - min(room, len(kubectl))
    first = first_lines(kubectl, width, room)
    if not left:
        return first
    return lines([first, first_lines(_command(read_as_curl(row, server), width, left), width, left)])


def _command(text: str, width: int, most: int) -> list[Content]:
    """Break a command between words, or within them if it would take more than `most` lines."""
    room = max(10, width - 2)
    parts = wrap(text, room, hyphens=False)
    return [
        line(("$ " if index == 0 else "  ", "$accent"), (part, "$foreground"))
        for index, part in enumerate(parts if len(parts) <= most else broken(text, room, len(text)))
    ]
