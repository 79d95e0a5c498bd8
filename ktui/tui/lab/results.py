"""The table of results, and the panel about the selected one."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from ktui.core.format import figure, integer, long_bytes, many, milliseconds, processed_text
from ktui.core.lab.form_prediction import reads_of, returned_by
from ktui.core.lab.measured import OBSERVED, Measured, Memory
from ktui.core.lab.result import LabResult
from ktui.core.lab.trial import Trial, Verdict
from ktui.core.rows import badge_of_route
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.lab_columns import badge_of_result, columns
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line, lines, longest_that_fits, parts_that_fit, wrapped
from ktui.tui.widgets.panel import Panel

_VERDICTS = {"=": "$success", "≈": "$success", "≠": "bold $warning", "?": "$ink-faint"}
_PHASES = ("seats", "queue", "wait", "etcd", "decode", "filter", "encode", "send")


def detail_content(result: LabResult, width: int, height: int) -> Content:
    """Return a result's route, cost, and whether these were predicted, as far as they fit."""
    badge, answer = badge_of_result(result), result.answer
    status = f"{result.status} " if result.status else ""
    word = badge_of_route(result.route).word if result.route else badge.word
    text = word if result.ok else f"{status}{result.problem or 'running'}"
    aside = f": {answer.reason}" if result.ok and answer.reason else ""
    drawn = [line((f"{badge.letter} ", badge.style), (text, badge.style), (aside, "$foreground"))]
    if result.trial is not None:
        drawn += _trial(result.trial, result.baseline, width)
    if result.ok:
        drawn.append(_compared(result, width))
        drawn += [line(("! ", "bold $warning"), (text, "$ink-muted")) for text in answer.remarks]
        facts = [_objects(answer), _bytes(answer), _phases(answer), _memory(answer.memory)]
        drawn += [parts_that_fit(parts, width, "$ink-strong", indent="  ") for parts in facts if parts]
    drawn.append(line(("  GET ", "$ink-faint"), (result.path, "$ink-muted")))
    return lines(drawn[:height])


def _trial(trial: Trial, baseline: int, width: int) -> list[Content]:
    parts = [f"{trial.runs} runs each in alternation, medians"]
    parts += [f"{trial.client}: not judged"] if trial.client else []
    better, worse = trial.verdict is Verdict.SAVES, trial.verdict in (Verdict.MIXED, Verdict.COSTS_MORE)
    style = "bold $success" if better else "bold $warning" if worse else "bold"
    sentence = f"{trial.sentence} (against #{baseline})"
    return [*wrapped(sentence, width, style, indent="  "), parts_that_fit(parts, width, indent="  ")]


def _compared(result: LabResult, width: int) -> Content:
    """Return `predicted → measured  route C = C · seats 10 = 10 · …`."""
    forms = [line(("  predicted → measured  ", "$ink-muted"))]
    for each in result.comparisons:
        gap = (" · ", "$ink-faint") if len(forms) > 1 else ""
        forms.append(forms[-1] + line(
            gap, (f"{each.name} ", "$ink-muted"), (each.predicted, "$foreground"),
            (f" {each.verdict} ", _VERDICTS[each.verdict]), (each.measured, "$ink-strong"),
        ))  # fmt: skip
    if len(forms) == 1:
        return line(("  nothing was predicted", "$ink-muted"))
    return longest_that_fits(forms[:0:-1], width)


def _objects(measured: Measured) -> list[str]:
    known, returned, rpcs = measured.counters, returned_by(measured), measured.counters.get("etcd_rpcs")
    words = {"fetched": "scanned", "evaluated": "evaluated", "matched": "matched"}
    steps = [f"{integer(known[name])} {word}" for name, word in words.items() if name in known]
    parts = [" → ".join([*steps, f"{integer(returned)} returned" if returned is not None else "returned"])]
    if rpcs is not None:
        keys = f", {many(known['etcd_keys'], 'key')}" if "etcd_keys" in known else ""
        parts.append(f"etcd: {many(reads_of(measured) or 0, 'read')} in {many(rpcs, 'RPC')}{keys}")
    if measured.seats is not None:
        held = measured.seat_seconds
        seconds = f", {figure(held)} seat-seconds" if held is not None else ""
        parts.append(f"{many(measured.seats, 'seat')}{seconds}")
    if measured.pages > 1:
        parts.append(f"{integer(measured.pages)} pages")
    if measured.remaining:
        parts.append(f"{integer(measured.remaining)} remain")
    return parts


def _bytes(measured: Measured) -> list[str]:
    known = measured.counters
    processed, factor = measured.processed_bytes, measured.amplification
    parts = []
    if processed is not None:
        times = f", {figure(factor)} for each byte returned" if factor is not None else ""
        imputed = known.get("imputed_bytes", 0)
        would = " as kube-apiserver would" if imputed else ""
        parts.append(f"{processed_text(processed, imputed)} processed{would}{times}")
    if "decoded_bytes" in known:
        parts.append(f"{long_bytes(known['decoded_bytes'])} decoded")
    parts.append(f"{long_bytes(measured.body_bytes)} received")
    sent = known.get("sent_bytes", 0)
    if sent and sent < 0.98 * measured.body_bytes:
        parts.append(f"{long_bytes(sent)} on the wire (gzip)")
    return parts


def _phases(measured: Measured) -> list[str]:
    parts = [f"{milliseconds(measured.total_ms)} ms, first byte {milliseconds(measured.first_byte_ms)}"]
    names = measured.phases if measured.reason_id == OBSERVED else _PHASES
    phases = ((name, measured.phases.get(name, 0)) for name in names)
    parts += [f"{name} {milliseconds(ms)}" for name, ms in phases if ms >= 0.005]
    parts += [f"CPU {milliseconds(measured.cpu_ms)}"] if measured.cpu_ms is not None else []
    uids = measured.flow_control.items()
    return [*parts, *(f"{name.removesuffix('_uid').replace('_', ' ')} {uid}" for name, uid in uids)]


def _memory(memory: Memory | None) -> list[str]:
    if memory is None:
        return []
    parts = [f"memory: {long_bytes(memory.peak_held)} held at most"]
    if memory.process_growth is not None:
        grown = f"the process grew by {long_bytes(memory.process_growth)}"
        parts.append(f"{grown} (other requests were served too)" if memory.shared else grown)
    return parts


FEW = 12  # results: up to this many the table is as high as they are; more share the screen with the form
NOTHING_SENT = "results show where an answer came from, what it cost, and whether that was predicted"


class ResultsPane(Container):
    """A table with one row per request sent."""

    def __init__(self) -> None:
        super().__init__(id="results-box", classes="box")
        send, compare, cheaper = key_of("lab.send"), key_of("lab.compare"), key_of("lab.cheaper")
        keys = f"{send} sends the LIST above, {compare} compares its variants, {cheaper} sends a cheaper one"
        empty = f"{keys}; tab or {key_of('lab.edit')} goes to the form"
        self.table = VTable(
            columns(80), key=lambda row: row.result.number, id="results", empty=empty, follow=True
        )

    def compose(self) -> ComposeResult:
        yield self.table

    @property
    def result(self) -> LabResult | None:
        """The result under the cursor."""
        return self.table.row.result if self.table.row is not None else None

    def entitle(self, count: int, gist: str) -> None:
        """Show in the title what matters of `count` results; few of them leave height to the prediction."""
        few = count <= FEW and self.screen.has_class("-tall")
        self.screen.set_class(few, "-few")
        self.styles.height = max(6, count + 3) if few else None
        subtitle = (f"  {gist}" if gist else "", "$ink-muted")
        title = line(f"results · {count}" if count else "results", subtitle)
        self.border_title = title.truncate(max(9, self.screen.size.width - 4), ellipsis=True)


class ResultDetail(Panel):
    """Details of the result under the cursor; hidden in a short terminal."""

    def __init__(self) -> None:
        super().__init__("selected", id="detail", classes="box")

    def show_result(self, result: LabResult | None) -> str:
        """Show a result. Return its main fact if the panel is hidden, else ""."""
        if result is None:
            self.show(lambda width, _: line((NOTHING_SENT, "$ink-muted")), ())
            return ""
        self.border_title = line(f"#{result.number} {result.label}")
        self.show(partial(detail_content, result), (id(result),))
        if self.display:
            return ""
        if result.trial is not None:
            return f"against #{result.baseline}: {result.trial.sentence}"
        known = [each for each in result.comparisons if each.verdict != "?"]
        return " · ".join(f"{c.name} {c.predicted} {c.verdict} {c.measured}" for c in known)
