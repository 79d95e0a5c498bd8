"""Every predicted figure of a request, next to the measured one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ktui.core.badges import letter_of
from ktui.core.format import integer
from ktui.core.lab.measured import Measured
from ktui.core.prediction.prediction import agree
from ktui.kube.explain import Explanation
from ktui.kube.resources import finds_namespaces
from ktui.kube.routing.parameters import TokenState
from ktui.kube.routing.plan import Source

# Objects are created and deleted between prediction and request: a difference this small is expected.
DRIFT = 0.02
_ONE_READ = ("revision_probe", "get_key", "get_key_at_rev")


@dataclass(frozen=True, slots=True)
class CountRange:
    """A predicted count, `low` to `high`; `high` None: no upper bound is known."""

    low: int
    high: int | None

    @property
    def text(self) -> str:
        if self.high is None:
            return f"≥ {integer(self.low)}"
        if self.low == self.high:
            return integer(self.low)
        return f"{integer(self.low)}–{integer(self.high)}"

    def holds(self, value: int) -> bool:
        return self.low <= value and (self.high is None or value <= self.high)

    def nearly(self, value: int) -> bool:
        """True if `value` is within the range when objects created or deleted meanwhile are allowed for."""
        room = max(2, round(DRIFT * (self.high or self.low)))
        return self.low - room <= value and (self.high is None or value <= self.high + room)


@dataclass(frozen=True, slots=True)
class Figures:
    """The prediction for one request. `route` is cache | etcd | none, "" if nothing is predicted.

    `reads` are reads of etcd as kube-apiserver counts them (a whole LIST is one). A figure that cannot
    be predicted is None.
    """

    route: str = ""
    fallback: bool = False
    limit: int = 0
    limit_honoured: bool | None = None
    seats: CountRange | None = None
    fetched: CountRange | None = None
    reads: CountRange | None = None

    def agrees(self, route: str) -> bool:
        """True if an answer from `route` ("" if refused) was predicted, fallback included."""
        return agree(self.route, route, fallback=self.fallback)


NOTHING = Figures()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure, predicted and measured.

    `verdict`: `=` as predicted, `≈` within drift, `≠` different, `?` not comparable.
    """

    name: str
    predicted: str
    measured: str
    verdict: str


def figures_of(explanation: Explanation, objects: int | None, seats: int | None) -> Figures:
    """Return the figures of a prediction.

    `objects` is the number of stored objects of the resource, `seats` the estimate for them; None: unknown.
    """
    plan, between = explanation.plan, explanation.seats
    known = CountRange(seats, seats) if seats is not None else CountRange(between.min, between.max)
    if plan.error is not None:
        return Figures(Source.NONE.value, seats=known)
    return Figures(
        plan.source.route,
        plan.fallback.reads_etcd,
        max(explanation.request.options.limit, 0),
        plan.limit_honoured,
        known,
        _fetched(explanation, objects),
        _reads(explanation),
    )


def _fetched(explanation: Explanation, count: int | None) -> CountRange | None:
    """Return how many objects are read from cache or etcd, of `count` stored; None: unknown."""
    request, behaviour, route = explanation.request, explanation.behaviour, explanation.plan.source
    if request.verb == "get" or request.scope(behaviour).single:
        return CountRange(0, 1)
    if count is None:
        return None
    part = bool(request.scope(behaviour).namespace)
    if request.verb == "watch":
        plan = explanation.plan
        lists = plan.initial_events and plan.source is Source.CACHE
        return CountRange(0 if part else count, count) if lists else None
    if route is Source.CACHE:
        indexed = request.required_node is not None
        part = indexed or (part and finds_namespaces(behaviour.minor, pods=request.of_pods))
        return CountRange(0 if part else count, count)
    if route is Source.SNAPSHOT:
        return CountRange(0, count)
    return _from_etcd(explanation, count, part or request.token.state is not TokenState.NONE)


def _from_etcd(explanation: Explanation, count: int, part: bool) -> CountRange:
    request, limit = explanation.request, explanation.request.options.limit
    if limit <= 0:
        return CountRange(0 if part else count, count)
    page = min(limit, count)
    most = count if request.scope(explanation.behaviour).selective else page
    return CountRange(0 if part else page, most)


def _reads(explanation: Explanation) -> CountRange:
    request, ops = explanation.request, explanation.plan.unstreamed_ops
    pages = request.options.limit > 0 and request.scope(explanation.behaviour).selective
    grows = pages and any(op not in _ONE_READ for op in ops)  # pages are read until enough objects match
    return CountRange(len(ops), None if grows else len(ops))


def compare(figures: Figures, measured: Measured) -> Iterator[Comparison]:
    """Yield each predicted figure next to the measured one."""
    route = measured.first_route or measured.route
    known = bool(route) or not measured.from_storage
    yield Comparison(
        "route",
        letter_of(figures.route),
        letter_of(route or "none") if known else "?",
        ("=" if figures.agrees(route) else "≠") if known else "?",
    )
    if measured.ok and figures.seats is not None:
        yield _counted("seats", figures.seats, measured.seats)
    if not measured.ok or measured.pages != 1 or (known and not figures.agrees(route)):
        return  # the other figures are predicted for one page from the predicted route
    if figures.limit_honoured is not None:
        yield _limit(figures, measured)
    shared = "etcd_gets" not in measured.counters  # includes whatever else that server did meanwhile
    if figures.fetched is not None:
        yield _counted("scanned", figures.fetched, measured.counters.get("fetched"), shared=shared)
    if figures.reads is not None:
        yield _counted("etcd reads", figures.reads, reads_of(measured), shared=shared)


def reads_of(measured: Measured) -> int | None:
    """Return the reads of etcd as kube-apiserver counts them; a real one reports only its RPCs."""
    counters = measured.counters
    if "etcd_gets" in counters:
        return counters["etcd_gets"] + counters.get("etcd_lists", 0)
    return counters.get("etcd_rpcs")


def returned_by(measured: Measured) -> int | None:
    """Return the objects in the answer, counted by the server, else by the client; None: unknown."""
    counted = measured.counters.get("returned")
    return counted if counted is not None else (measured.items or None)


def _counted(name: str, span: CountRange, value: int | None, *, shared: bool = False) -> Comparison:
    """Compare a count. A `shared` counter above its range is not comparable: others may have increased it."""
    if value is None:
        return Comparison(name, span.text, "?", "?")
    verdict = "=" if span.holds(value) else "≈" if span.nearly(value) and name == "scanned" else "≠"
    if shared and verdict == "≠" and value > span.low:
        verdict = "?"
    return Comparison(name, span.text, integer(value), verdict)


def _limit(figures: Figures, measured: Measured) -> Comparison:
    returned = returned_by(measured)
    honoured: bool | None = None
    if measured.continue_token:
        honoured = True
    elif returned is not None and returned > figures.limit:
        honoured = False
    words = {True: "honoured", False: "ignored", None: "all fit"}
    verdict = "?" if honoured is None else "=" if honoured == figures.limit_honoured else "≠"
    return Comparison("limit", words[figures.limit_honoured], words[honoured], verdict)
