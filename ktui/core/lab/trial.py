"""Decide whether a variant of a request is cheaper, from what the server spends in several runs of both.

The client's time is reported with the verdict and never decides it: it depends on the network and
on how fast the client reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from statistics import median
from typing import Any

from ktui.core.format import integer, long_bytes, milliseconds
from ktui.core.lab.measured import Measured

LEAST_RUNS = 5  # of each: with fewer, chance alone separates two series too often
FEWEST_PAIRS = 3  # if all of them agree in every figure, more pairs would not change the verdict
CLEARLY = 2.0  # three pairs agree by chance in one case of four: times have to differ by this factor too
SEPARATED = 0.95  # of all pairs of an original and a variant have to differ in the same direction
NOTICEABLE = 0.05  # of the original's median: a smaller difference counts as none
IN_A_SENTENCE = 3  # figures
CLIENT_ONLY = "the server does not report what a request costs: only the client's figures are known"


class Verdict(Enum):
    SAVES = "saves"
    COSTS_MORE = "costs more"
    MIXED = "saves some, costs more of others"
    SAME = "no difference"
    UNKNOWN = "not known"  # the server reports no cost
    FAILED = "failed"  # there is nothing to compare


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, least and most of several runs."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CostDifference:
    """One figure of original and variant. `change`: -1 the variant spends less, 1 more, 0 within noise."""

    figure: str
    original: Spread
    variant: Spread
    change: int


@dataclass(frozen=True, slots=True)
class Polling:
    """How often a client repeats the original, and the size of the events that a WATCH receives instead."""

    per_minute: float
    event_bytes: float  # per minute


@dataclass(frozen=True, slots=True)
class Trial:
    """Alternating runs of an original and of a variant. `problem`: why they cannot be compared.

    With `polling` the variant is a WATCH that replaces repeated LISTs.
    """

    runs: int
    differences: tuple[CostDifference, ...] = ()
    times: tuple[Spread, Spread] | None = None  # milliseconds by the client's clock
    problem: str = ""
    polling: Polling | None = None

    @property
    def verdict(self) -> Verdict:
        if self.problem:
            return Verdict.FAILED
        if not self.differences:
            return Verdict.UNKNOWN
        if (costs := self._over_time()) is not None:
            each_minute, _, events = costs
            return Verdict.SAVES if events < each_minute else Verdict.COSTS_MORE
        less, more = (any(each.change == sign for each in self.differences) for sign in (-1, 1))
        if less and more:
            return Verdict.MIXED
        return Verdict.SAVES if less else Verdict.COSTS_MORE if more else Verdict.SAME

    @property
    def sentence(self) -> str:
        """`saves 98% of bytes processed, CPU 34 → 2.0 ms`, `no difference`, `costs more: CPU 34 → 71 ms`."""
        if self.problem:
            return self.problem
        if not self.differences:
            return CLIENT_ONLY
        if (costs := self._over_time()) is not None and self.polling is not None:
            each_minute, once, events = map(long_bytes, costs)
            often = f"{self.polling.per_minute:.3g} LISTs/min = {each_minute}/min processed"
            return f"{often} against one WATCH = {once} once + {events}/min"
        less, more = ([each for each in self.differences if each.change == sign] for sign in (-1, 1))
        saved = ", ".join(_saved(less[:IN_A_SENTENCE]))
        spent = ", ".join(change_of(each) for each in more[:IN_A_SENTENCE])
        if saved and spent:
            return f"saves {saved}, but costs more: {spent}"
        return f"saves {saved}" if saved else f"costs more: {spent}" if spent else "no difference"

    def _over_time(self) -> tuple[float, float, float] | None:
        """Return bytes processed: by a minute's LISTs, by the WATCH's start, by a minute's events."""
        processed = next((each for each in self.differences if each.figure == "processed_bytes"), None)
        if self.polling is None or processed is None:
            return None
        each = processed.original.median
        return self.polling.per_minute * each, processed.variant.median, self.polling.event_bytes

    @property
    def client(self) -> str:
        """`client's time 60 → 12 ms`; "" if nothing was compared."""
        if self.times is None:
            return ""
        return change_of(CostDifference(CLIENT_TIME.name, *self.times, 0))

    def document(self) -> dict[str, Any]:
        times = self.times
        return {
            "runs": self.runs,
            "verdict": self.verdict.value,
            "sentence": self.sentence,
            "figures": {
                each.figure: {
                    "original": asdict(each.original),
                    "variant": asdict(each.variant),
                    "difference": ("less", "none", "more")[each.change + 1],
                }
                for each in self.differences
            },
            "client_ms": times and {"original": asdict(times[0]), "variant": asdict(times[1])},
        }


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that a request costs the server. A difference of less than `least` counts as none."""

    name: str
    noun: str
    of: Callable[[Measured], float | None]
    text: Callable[[float], str]
    least: float
    unit: str = ""
    share: bool = False  # a saving is shown as a percentage
    timed: bool = False  # it differs by chance from run to run; others are counted
    elapsed: bool = False  # a time by the clock, which other load lengthens


def _count(name: str) -> Callable[[Measured], float | None]:
    return lambda measured: measured.counters.get(name)


def _whole(value: float) -> str:
    return integer(round(value))


CLIENT_TIME = Figure("client_ms", "client's time", lambda each: each.total_ms, milliseconds, 0.0, "ms")
# In the order in which a sentence lists them.
FIGURES = {
    figure.name: figure
    for figure in (
        Figure("processed_bytes", "bytes processed", lambda each: each.processed_bytes, long_bytes, 1_000,
               share=True),
        Figure("cpu_ms", "CPU", lambda each: each.cpu_ms, milliseconds, 0.2, "ms", timed=True),
        Figure("sent_bytes", "bytes sent", _count("sent_bytes"), long_bytes, 1_000, share=True),
        Figure("held_bytes", "memory held",
               lambda each: each.memory.peak_held if each.memory is not None else None, long_bytes, 16_384,
               share=True),
        Figure("etcd_keys", "etcd keys", _count("etcd_keys"), _whole, 2),
        Figure("etcd_bytes", "etcd bytes", _count("etcd_bytes"), long_bytes, 1_000),
        Figure("etcd_rpcs", "etcd requests", _count("etcd_rpcs"), _whole, 1),
        Figure("decoded", "objects decoded", _count("decoded"), _whole, 2),
        Figure("fetched", "objects scanned", _count("fetched"), _whole, 2),
        Figure("seat_seconds", "seat-seconds", lambda each: each.seat_seconds, "{:.3g}".format, 0.005,
               timed=True, elapsed=True),
    )
}  # fmt: skip


def trial_of(
    originals: Sequence[Measured], variants: Sequence[Measured], polling: Polling | None = None
) -> Trial:
    runs = min(len(originals), len(variants))
    for name, measured in (("original", originals), ("variant", variants)):
        failed = next((each for each in measured if not each.ok or each.message), None)
        if failed is not None:
            return Trial(runs, problem=f"the {name} failed: {failed.status} {failed.message}")
    times = _spread([each.total_ms for each in originals]), _spread([each.total_ms for each in variants])
    differences = []
    for figure in FIGURES.values():
        known = [value for each in (*originals, *variants) if (value := figure.of(each)) is not None]
        if len(known) == len(originals) + len(variants):
            before, after = known[: len(originals)], known[len(originals) :]
            change = _change(before, after, figure)
            differences.append(CostDifference(figure.name, _spread(before), _spread(after), change))
    return Trial(runs, tuple(differences), times, polling=polling)


def decided(originals: Sequence[Measured], variants: Sequence[Measured]) -> bool:
    """Return True if more pairs need not be sent: a sign test over the pairs, figure by figure.

    There are at least FEWEST_PAIRS. Each figure has the same sign in all of them, 0 if the difference is not
    noticeable, and one at least is not 0. A time has to be CLEARLY less or more; an elapsed one that is not,
    but in no pair more, holds nothing up: no saving of it is claimed.
    """
    pairs = list(zip(originals, variants, strict=False))
    if len(pairs) < FEWEST_PAIRS or not all(each.ok and not each.message for pair in pairs for each in pair):
        return False
    decisive = False
    for figure in FIGURES.values():
        signs = {_sign(figure, *pair) for pair in pairs}
        before, after = ([figure.of(each) or 0.0 for each in side] for side in zip(*pairs, strict=True))
        clear = not figure.timed or _clearly(before, after)
        agree = clear and len(signs) == 1
        if not agree and (not figure.elapsed or 1 in signs):
            return False
        decisive |= agree and bool(signs & {-1, 1})
    return decisive


def _clearly(before: Sequence[float], after: Sequence[float]) -> bool:
    """Return True if all of one side are at least CLEARLY times all of the other."""
    return min(before) >= CLEARLY * max(after) or min(after) >= CLEARLY * max(before)


def _sign(figure: Figure, original: Measured, variant: Measured) -> int | None:
    """Return -1 or 1 if the variant spends noticeably less or more in this pair, else 0; None if unknown."""
    was, now = figure.of(original), figure.of(variant)
    return None if was is None or now is None else _direction(figure, was, now)


def _direction(figure: Figure, was: float, now: float) -> int:
    """Return -1 for noticeably less, 1 for noticeably more, else 0."""
    if abs(now - was) < max(figure.least, NOTICEABLE * was):
        return 0
    return 1 if now > was else -1


def _change(before: Sequence[float], after: Sequence[float], figure: Figure) -> int:
    """Return -1, 0 or 1: a difference has to be large enough and appear in nearly every pair of runs."""
    sign = _direction(figure, median(before), median(after))
    if figure.timed and min(len(before), len(after)) < LEAST_RUNS and not _clearly(before, after):
        return 0
    agreeing = sum((two - one) * sign > 0 for one in before for two in after)
    return sign if agreeing >= SEPARATED * len(before) * len(after) else 0


def _spread(values: Sequence[float]) -> Spread:
    return Spread(round(median(values), 3), round(min(values), 3), round(max(values), 3))


def _saved(less: Sequence[CostDifference]) -> Iterator[str]:
    """Yield a text per saved figure; the first is a percentage if it counts bytes: at most `99.99%`."""
    for place, each in enumerate(less):
        figure, before, after = FIGURES[each.figure], each.original.median, each.variant.median
        if place or not figure.share:
            yield change_of(each)
        elif not after:
            yield f"all {figure.noun} ({figure.text(before)})"
        else:
            share = 1 - after / before
            close = f"{min(share, 0.9999) * 100:.2f}".rstrip("0").rstrip(".") + "%"
            yield f"{close if share >= 0.99 else f'{share:.0%}'} of {figure.noun}"


def change_of(each: CostDifference) -> str:
    """Return the medians of both as text: `CPU 34 → 2.0 ms`."""
    figure = FIGURES.get(each.figure, CLIENT_TIME)
    before, after = figure.text(each.original.median), figure.text(each.variant.median)
    return f"{figure.noun} {before} → {after}" + (f" {figure.unit}" if figure.unit else "")


def spread_text(figure: Figure, spread: Spread) -> str:
    """Return median and range as text: `34 ms (31–40)`; one number if all runs agree."""
    unit = f" {figure.unit}" if figure.unit else ""
    low, middle, high = (figure.text(value) for value in (spread.low, spread.median, spread.high))
    return f"{middle}{unit}" + ("" if low == high else f" ({low}–{high})")
