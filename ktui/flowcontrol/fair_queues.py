"""The seats of one priority level, and the queues of requests that wait for seats.

Upstream: util/flowcontrol/fairqueuing/queueset (Fair Queuing for Server Requests). Work is counted in
seat-seconds; the level's virtual time R is the work that each busy queue could have had so far. The queue
whose oldest request would finish first in virtual time is served next. A request is expected to take
EXPECTED_SECONDS; its queue's account is corrected when it ends.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import attrgetter

from ktui.apiserver.chain import EXPECTED_SECONDS, Ticket
from ktui.flowcontrol.utilization import (
    REQUESTS,
    SEATS_DEMANDED,
    SEATS_IN_USE,
    Demand,
    DemandIntegrator,
    StateTimes,
    TimedRatio,
)
from ktui.kube.flow_rules import QueuingSpec


@lru_cache(maxsize=4096)
def hand_of(schema: str, flow: str, queues: int, hand_size: int) -> tuple[int, ...]:
    """Return the numbers of the queues that a flow may use: a hand of cards, dealt by the flow's hash.

    They are `hand_size` different ones out of `queues`. Upstream: apiserver/pkg/util/shufflesharding.
    Two flows rarely share their whole hand, so a flow that fills its queues leaves others some of theirs.
    """
    digest = hashlib.sha256(schema.encode() + b"\0" + flow.encode()).digest()
    return deal(int.from_bytes(digest[:8], "little"), queues, hand_size)


def deal(entropy: int, deck: int, hand_size: int) -> tuple[int, ...]:
    """A hand of different cards, each below `deck`; with uniform `entropy` every hand is equally likely."""
    hand: list[int] = []
    remainders: list[int] = []
    for taken in range(hand_size):
        entropy, remainder = divmod(entropy, deck - taken)
        remainders.append(remainder)
    for place, card in enumerate(remainders):
        for earlier in reversed(remainders[:place]):
            if card >= earlier:
                card += 1
        hand.append(card)
    return tuple(hand)


QUEUE_FULL, CONCURRENCY_LIMIT = "queue-full", "concurrency-limit"
TIME_OUT, CANCELLED = "time-out", "cancelled"

Later = Callable[[float, Callable[[], None]], object]


class FairQueue:
    """One queue: waiting requests in order, and executing ones. `next_r` is R when the next is due."""

    __slots__ = ("executing", "index", "next_r", "seats_in_use", "waiting", "waiting_work")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: dict[Ticket, None] = {}
        self.executing: dict[Ticket, None] = {}
        self.seats_in_use = 0
        self.waiting_work = 0.0
        self.next_r = 0.0

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.executing)

    @property
    def oldest(self) -> Ticket:
        return next(iter(self.waiting))

    def catch_up(self) -> None:
        """Advance the account to the oldest request's arrival: idle time before it gives no credit."""
        if self.waiting:
            self.next_r = max(self.next_r, self.oldest.arrived_r)


class FairQueues:
    """The queues of a level. `queuing` None: requests that cannot be served at once are rejected.

    `exempt`: every request is served at once. `limit` is the present number of seats. `clock` is monotonic;
    `later` calls a function after some seconds.
    """

    def __init__(self, clock: Callable[[], float], later: Later, *, exempt: bool = False) -> None:
        self._clock = clock
        self._later = later
        self.exempt = exempt
        self.queuing: QueuingSpec | None = None
        self.limit = 0
        self.queues: list[FairQueue] = []
        self.unqueued: dict[Ticket, None] = {}  # requests that execute without a queue
        self._demand = DemandIntegrator(clock())
        # Ratios of waiting and executing requests, of seats in use and of seats demanded.
        self.times = StateTimes(REQUESTS, REQUESTS, SEATS_IN_USE, SEATS_DEMANDED)
        self.waiting = self.executing = self.seats_in_use = self.seats_waiting = 0
        self.dispatched = self.rejected = self.cancelled = 0
        # how often the next request needed more seats than are free, by its schema
        self.crowded: Counter[str] = Counter()
        self._filled: dict[FairQueue, None] = {}  # queues with waiting requests
        self._busy = 0  # number of busy queues
        self._r = 0.0
        self._synced = clock()
        self._enqueued = 0
        self._robin = 0
        self._unwanted = False  # there are more queues than configured: those that still serve requests

    @property
    def idle(self) -> bool:
        return not self.waiting and not self.executing

    @property
    def capacity(self) -> int:
        """The most requests that can wait; 1 without queues, for ratios."""
        queuing = self.queuing
        return 1 if queuing is None else max(1, queuing.queue_length_limit) * queuing.queues

    def configure(self, queuing: QueuingSpec | None, limit: int, usual: int = 1) -> None:
        """Apply a configuration; queues that are no longer wanted still serve their requests.

        `usual` is the number of seats to which a level without seats is compared.
        """
        self._sync()
        self.queuing, self.limit = queuing, limit
        seats = limit or usual
        self.times.limit(self.capacity, seats, seats, seats)
        wanted = queuing.queues if queuing is not None else 0
        self.queues.extend(FairQueue(index) for index in range(len(self.queues), wanted))
        self._unwanted = len(self.queues) > wanted
        self._drop_unwanted()
        self._dispatch()

    def start(self, request: Ticket) -> str:
        """Execute the request (`started` is set) or queue it; return the reason of a rejection, else ""."""
        now = self._sync()
        request.arrived, request.arrived_r = now, self._r
        if self.queuing is None:
            if not self.exempt and not self._accommodates(request.width):
                self.rejected += 1
                return CONCURRENCY_LIMIT
            self.unqueued[request] = None
            self._begin(request)
            return ""
        queue = self._shortest(request)
        if self.seats_in_use >= self.limit and len(queue.waiting) >= self.queuing.queue_length_limit:
            queue.catch_up()
            self.rejected += 1
            return QUEUE_FULL
        if not queue.busy:
            queue.next_r = self._r
            self._busy += 1
        request.queue = queue
        if not self.waiting and self.seats_in_use < self.limit and self._accommodates(request.width):
            queue.next_r = max(queue.next_r, request.arrived_r)
            self._execute(request, queue)  # nothing waits: it would be the first in its queue
            return ""
        queue.waiting[request] = None
        queue.waiting_work += request.work
        self._filled[queue] = None
        self.waiting += 1
        self.seats_waiting += request.width
        queue.catch_up()
        self._demand.highest = max(self._demand.highest, self.seats_in_use + self.seats_waiting)
        self._dispatch()
        return ""

    def give_up(self, request: Ticket) -> bool:
        """Remove a request that waited too long or whose client has gone; return False if it executes."""
        queue = request.queue
        if queue is None or request not in queue.waiting:
            return False
        self._sync()
        self._unqueue(request, queue)
        queue.catch_up()
        self.rejected += 1
        self.cancelled += 1
        if not queue.busy:
            self._busy -= 1
        self._drop_unwanted()
        self._dispatch()
        return True

    def finish(self, request: Ticket) -> float:
        """End a request: free its seats, now or after its additional latency. Return the time."""
        now = self._sync()
        self.executing -= 1
        queue = request.queue
        if queue is None:
            del self.unqueued[request]
        else:
            del queue.executing[request]
            queue.next_r -= request.seats * (EXPECTED_SECONDS - (now - request.started))
            queue.catch_up()
            if not queue.busy:
                self._busy -= 1
        if request.additional_latency > 0.0:
            self._later(request.additional_latency, lambda: self._release_later(request))
        else:
            self._release(request)
        return now

    def take_demand(self) -> Demand:
        """Return the demand of seats since the last call."""
        return self._demand.take(self.seats_in_use + self.seats_waiting, self._sync())

    def ratios(self) -> list[TimedRatio]:
        """Return the ratios until now: of waiting and executing requests, of seats in use and demanded."""
        self._sync()
        return self.times.ratios()

    def requests(self) -> Iterator[tuple[int, int, Ticket]]:
        """Yield (queue's number, place in it, request); -1 for requests that execute or have no queue."""
        for queue in self.queues:
            for place, request in enumerate(queue.waiting):
                yield queue.index, place, request
            for request in queue.executing:
                yield queue.index, -1, request
        for request in self.unqueued:
            yield -1, -1, request

    def _release_later(self, request: Ticket) -> None:
        self._sync()
        self._release(request)

    def _release(self, request: Ticket) -> None:
        """Free the seats of a request; R has been advanced to now."""
        self.seats_in_use -= request.width
        if request.queue is not None:
            request.queue.seats_in_use -= request.width
        if self.waiting:
            self._dispatch()
        if self._unwanted:
            self._drop_unwanted()

    def _sync(self) -> float:
        """Advance R to now by the work done since then, divided among the busy queues; return now."""
        now = self._clock()
        passed = now - self._synced
        seats_in_use = self.seats_in_use
        demanded = seats_in_use + self.seats_waiting
        self.times.passed((self.waiting, self.executing, seats_in_use, demanded), passed)
        self._demand.passed(demanded, passed)
        if self._busy:
            self._r += min(demanded, self.limit) / self._busy * passed
        self._synced = now
        return now

    def _shortest(self, request: Ticket) -> FairQueue:
        """Return the queue of the flow's hand with the least waiting work."""
        assert self.queuing is not None
        hand = hand_of(request.schema.name, request.flow, self.queuing.queues, self.queuing.hand_size)
        offset = self._enqueued % len(hand)
        self._enqueued += 1
        queues = self.queues
        if not self.waiting:
            return queues[hand[offset]]
        own = (queues[card] for card in (*hand[offset:], *hand[:offset]))
        return min(own, key=attrgetter("waiting_work"))

    def _accommodates(self, seats: int) -> bool:
        if seats > self.limit:  # a request that needs more seats than its level has executes alone
            return not self.executing
        return self.seats_in_use + seats <= self.limit

    def _dispatch(self) -> None:
        while self.waiting and self.seats_in_use < self.limit:
            queue = self._next() if len(self._filled) > 1 else next(iter(self._filled))
            request = queue.oldest
            if not self._accommodates(request.width):
                self.crowded[request.schema.name] += 1
                return
            self._unqueue(request, queue)
            self._execute(request, queue)
            if request.dispatched is not None and not request.dispatched.done():
                request.dispatched.set_result(True)

    def _execute(self, request: Ticket, queue: FairQueue) -> None:
        """Begin a request of `queue` that does not wait, or no longer."""
        self._robin = queue.index
        if request.final_seats > self.limit:  # the same work with fewer seats
            request.additional_latency *= request.final_seats / self.limit
            request.final_seats = self.limit
            request.width = max(request.seats, request.final_seats)
        queue.executing[request] = None
        queue.seats_in_use += request.width
        queue.next_r += request.work
        queue.catch_up()
        self._begin(request)

    def _next(self) -> FairQueue:
        """Return the queue whose oldest request would finish first; of equal ones the next in turn."""
        count = len(self.queues)
        return min(
            self._filled,
            key=lambda queue: (queue.next_r + queue.oldest.work, (queue.index - self._robin - 1) % count),
        )

    def _unqueue(self, request: Ticket, queue: FairQueue) -> None:
        del queue.waiting[request]
        queue.waiting_work -= request.work
        if not queue.waiting:
            queue.waiting_work = 0.0
            del self._filled[queue]
        self.waiting -= 1
        self.seats_waiting -= request.width

    def _begin(self, request: Ticket) -> None:
        request.started = self._synced
        self.executing += 1
        self.dispatched += 1
        self.seats_in_use += request.width
        demanded = self.seats_in_use + self.seats_waiting
        if demanded > self._demand.highest:
            self._demand.highest = demanded

    def _drop_unwanted(self) -> None:
        wanted = self.queuing.queues if self.queuing is not None else 0
        if len(self.queues) <= wanted:
            return
        self.queues = [queue for queue in self.queues if queue.busy or queue.index < wanted]
        self._unwanted = len(self.queues) > wanted
        for index, queue in enumerate(self.queues):
            queue.index = index
