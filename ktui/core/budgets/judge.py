"""Judge requests by budgets: count them per entry, and compare with the entry's limits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import msgspec

from ktui.core.budgets.budget_file import RATE, RequestBudget
from ktui.core.budgets.judged_requests import JudgedRequest, Relists

MOST_GROUPS = 10_000
MOST_CLIENTS = 1_000
MOST_SECONDS = 2_000_000  # in which an entry had requests, of all entries together: 200 MB
REST = "other clients"
_MINUTE = 60
FIGURES = ("objects", "scanned", "bytes")  # of a request, by their attribute; None: not known


class _Clock:
    """How many more seconds may be kept. `full`: some were not, and rates are too low."""

    def __init__(self) -> None:
        self._left = MOST_SECONDS
        self.full = False

    def keep(self) -> bool:
        self.full = self.full or not self._left
        self._left -= not self.full
        return not self.full


class BudgetUsage:
    """What the requests of one entry, or of a client, verb and resource, came to; rates need a `clock`."""

    def __init__(self, clock: _Clock | None = None) -> None:
        self.count = self.relists = 0
        self.clients = Counter[str]()
        self.routes = Counter[str]()
        self.known = Counter[str]()  # requests whose objects, scanned and bytes are known
        self.largest: dict[str, tuple[int, JudgedRequest]] = {}  # by figure
        self.heaviest: JudgedRequest | None = None
        self.last_relist: JudgedRequest | None = None
        self._clock = clock
        self._seconds: dict[int, int] = {}  # requests by second

    def add(self, request: JudgedRequest) -> None:
        self.count += 1
        name = request.client
        self.clients[name if name in self.clients or len(self.clients) < MOST_CLIENTS else REST] += 1
        self.routes[request.route] += 1
        for figure in FIGURES:
            value = getattr(request, figure)
            if value is None:
                continue
            self.known[figure] += 1
            if figure not in self.largest or value > self.largest[figure][0]:
                self.largest[figure] = value, request
        if self.heaviest is None or request.weight > self.heaviest.weight:
            self.heaviest = request
        second = int(request.at)
        if self._clock is not None and (second in self._seconds or self._clock.keep()):
            self._seconds[second] = self._seconds.get(second, 0) + 1

    def add_relist(self, request: JudgedRequest) -> None:
        self.relists += 1
        self.last_relist = request

    @property
    def per_minute(self) -> int:
        """The most requests within any 60 seconds."""
        seconds = sorted(self._seconds)
        most = inside = first = 0
        for second in seconds:
            inside += self._seconds[second]
            while seconds[first] <= second - _MINUTE:
                inside -= self._seconds[seconds[first]]
                first += 1
            most = max(most, inside)
        return most

    @property
    def timed(self) -> bool:
        """True if all its requests are in `per_minute`."""
        return self._clock is not None and not self._clock.full

    def value(self, limit: str) -> int | None:
        """Return what is compared with a limit; None if no request has the figure."""
        if limit == "max":
            return self.count
        if limit == RATE:
            return self.per_minute
        if limit == "max_relists":
            return self.relists
        figure = limit.removeprefix("max_")
        return self.largest[figure][0] if figure in self.largest else None

    def worst(self, limit: str) -> JudgedRequest | None:
        """Return the request to look at when a limit is exceeded."""
        if limit == "max_relists":
            return self.last_relist
        figure = limit.removeprefix("max_")
        return self.largest[figure][1] if figure in self.largest else self.heaviest

    def not_known(self, limit: str) -> int:
        """Return how many requests lack the figure of a limit."""
        if limit == RATE:
            return 0 if self.timed else self.count
        figure = limit.removeprefix("max_")
        return self.count - self.known[figure] if figure in FIGURES else 0


class Breach(msgspec.Struct, frozen=True):
    """A limit that was exceeded, and the worst request."""

    limit: str
    allowed: int
    actual: int
    worst: JudgedRequest | None

    @property
    def factor(self) -> float:
        return self.actual / self.allowed if self.allowed else math.inf


class JudgedBudget(msgspec.Struct, frozen=True):
    """An entry with what came of it. `unknown`: limits, and how many requests lack their figure."""

    budget: RequestBudget
    usage: BudgetUsage
    breaches: tuple[Breach, ...] = ()
    unknown: dict[str, int] = {}

    @property
    def matched(self) -> bool:
        return self.usage.count > 0 or self.usage.relists > 0

    @property
    def unjudged(self) -> bool:
        """True if requests matched, and none has a figure that a limit could be compared with."""
        unknown = (self.unknown.get(limit) == self.usage.count for limit in self.budget.limits)
        return self.matched and all(unknown)


class BudgetVerdict(msgspec.Struct, frozen=True):
    """`budgets`: exceeded ones first, by the factor. `unmatched`: requests that no entry has, by title."""

    requests: int
    budgets: tuple[JudgedBudget, ...]
    unmatched: tuple[tuple[str, int], ...]
    groups: dict[tuple[str, str, str], BudgetUsage]  # by client, verb, resource
    predicted: int = 0  # requests whose route is predicted

    @property
    def exceeded(self) -> list[JudgedBudget]:
        return [entry for entry in self.budgets if entry.breaches]


class BudgetJudge:
    """Takes requests in the order of time; each entry that matches counts one. `drafting`: for `draft`."""

    def __init__(self, budgets: Iterable[RequestBudget] = (), *, drafting: bool = False) -> None:
        clock = _Clock()
        self._clock_of_groups = clock if drafting else None
        self._entries = [
            (budget, budget.client_test(), BudgetUsage(clock if RATE in budget.limits else None))
            for budget in budgets
        ]
        self._groups: dict[tuple[str, str, str], BudgetUsage] = {}
        self._unmatched = Counter[str]()
        self._relists = Relists()
        self._by_client: dict[str, list[int]] = {}
        self.requests = self._predicted = 0

    def add(self, request: JudgedRequest) -> None:
        self.requests += 1
        self._predicted += request.predicted
        relist = self._relists.is_relist(request)
        matched = False
        numbers = self._by_client.get(request.client)
        if numbers is None:
            numbers = [number for number, (_, test, _) in enumerate(self._entries) if test(request.client)]
            if len(self._by_client) < MOST_GROUPS:
                self._by_client[request.client] = numbers
        for number in numbers:
            budget, _, usage = self._entries[number]
            if budget.resource and budget.resource != request.resource:
                continue
            if relist and budget.verb == "watch":
                usage.add_relist(request)
            if budget.verb in ("", request.verb) and budget.route in ("", request.route):
                usage.add(request)
                matched = True
        if not matched:
            title = f"{request.client} {request.verb.upper()} {request.resource}"
            self._unmatched[title if len(self._unmatched) < MOST_GROUPS else "others"] += 1
        self._group(request, request.verb).add(request)
        if relist:
            self._group(request, "watch").add_relist(request)

    def _group(self, request: JudgedRequest, verb: str) -> BudgetUsage:
        key = request.client, verb, request.resource
        if key not in self._groups and len(self._groups) >= MOST_GROUPS:
            key = REST, verb, ""
        if key not in self._groups:
            self._groups[key] = BudgetUsage(self._clock_of_groups)
        return self._groups[key]

    def verdict(self) -> BudgetVerdict:
        judged = []
        for budget, _, usage in self._entries:
            values = ((limit, allowed, usage.value(limit)) for limit, allowed in budget.limits.items())
            breaches = [
                Breach(limit, allowed, actual, usage.worst(limit))
                for limit, allowed, actual in values
                if actual is not None and actual > allowed
            ]
            breaches.sort(key=lambda breach: -breach.factor)
            unknown = {limit: lacking for limit in budget.limits if (lacking := usage.not_known(limit))}
            judged.append(JudgedBudget(budget, usage, tuple(breaches), unknown))
        judged.sort(key=lambda entry: -max((breach.factor for breach in entry.breaches), default=0.0))
        unmatched = tuple(self._unmatched.most_common())
        return BudgetVerdict(self.requests, tuple(judged), unmatched, self._groups, self._predicted)


def draft(verdict: BudgetVerdict, headroom: float) -> list[RequestBudget]:
    """Return budgets that a run kept, with `headroom` (0.2 is 20 %) on top of each number.

    An entry per client, verb and resource; and one for LISTs from etcd, of which a run without any allows
    none.
    """

    def more(value: int) -> int:
        return math.ceil(round(value * (1 + headroom), 6))

    budgets = []
    for (client, verb, resource), usage in sorted(verdict.groups.items()):
        if client == REST or not usage.count:
            continue
        limits = {"max": more(usage.count)}
        if usage.timed:
            limits[RATE] = more(usage.per_minute)
        if verb == "watch":
            limits["max_relists"] = more(usage.relists)
        for figure, (value, _) in usage.largest.items():
            if verb in ("get", "list", "watch"):
                limits[f"max_{figure}"] = more(value)
        budgets.append(RequestBudget(client, verb, resource, limits=limits))
        if verb == "list" and set(usage.routes) != {""}:
            budgets.append(RequestBudget(client, verb, resource, "etcd", {"max": more(usage.routes["etcd"])}))
    return budgets
