"""Seats, queues, and that no flow starves another."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ktui.apiserver.chain import Ticket
from ktui.flowcontrol.fair_queues import CONCURRENCY_LIMIT, QUEUE_FULL, FairQueues
from ktui.kube.flow_rules import QueuingSpec
from tests.unit.flowcontrol.ticking import Ticking, level_of, request

QUEUES = QueuingSpec(16, 4, 50)


def test_a_free_seat_is_taken_at_once() -> None:
    queues = level_of(Ticking(), 2, QUEUES)
    first = request()
    assert queues.start(first) == ""
    assert first.started
    assert (queues.executing, queues.seats_in_use, queues.waiting) == (1, 1, 0)
    queues.finish(first)
    assert queues.idle
    assert queues.seats_in_use == 0


def test_without_queues_what_has_no_seat_is_rejected() -> None:
    queues = level_of(Ticking(), 2, None)
    kept = request(seats=2)
    assert queues.start(kept) == ""
    assert queues.start(request()) == CONCURRENCY_LIMIT
    queues.finish(kept)
    assert queues.start(request()) == ""
    assert queues.rejected == 1


def test_an_exempt_level_serves_everything_at_once() -> None:
    queues = level_of(Ticking(), 0, None, exempt=True)
    several = [request(seats=9) for _ in range(5)]
    assert [queues.start(item) for item in several] == [""] * 5
    assert queues.seats_in_use == 45
    assert all(item.started for item in several)


def test_a_full_queue_rejects() -> None:
    queues = level_of(Ticking(), 1, QueuingSpec(1, 1, 2))
    several = [request() for _ in range(4)]
    assert [queues.start(item) for item in several] == ["", "", "", QUEUE_FULL]
    assert (queues.executing, queues.waiting, queues.rejected) == (1, 2, 1)


def test_a_request_wider_than_its_level_executes_alone() -> None:
    queues = level_of(Ticking(), 3, QUEUES)
    narrow, wide = request("a"), request("b", seats=10)
    queues.start(narrow)
    queues.start(wide)
    assert not wide.started
    assert queues.crowded["all"] >= 1
    queues.finish(narrow)
    assert wide.started
    later = request("c")
    queues.start(later)
    assert not later.started
    queues.finish(wide)
    assert later.started


def test_seats_are_kept_for_the_work_of_watchers() -> None:
    clock = Ticking()
    queues = level_of(clock, 10, QUEUES)
    write = request(seats=1, final_seats=4, latency=0.02)
    queues.start(write)
    assert queues.seats_in_use == 4
    queues.finish(write)
    assert (queues.executing, queues.seats_in_use) == (0, 4)
    clock.pass_time(0.03)
    assert queues.seats_in_use == 0


def test_final_seats_beyond_the_level_become_time() -> None:
    clock = Ticking()
    queues = level_of(clock, 2, QUEUES)
    write = request(seats=1, final_seats=8, latency=0.01)
    queues.start(write)
    assert (write.final_seats, round(write.additional_latency, 6), queues.seats_in_use) == (2, 0.04, 2)
    queues.finish(write)
    clock.pass_time(0.05)
    assert (queues.seats_in_use, queues.seats_waiting) == (0, 0)


def test_giving_up_leaves_the_queue() -> None:
    queues = level_of(Ticking(), 1, QUEUES)
    holder, waiter = request("a"), request("b")
    queues.start(holder)
    queues.start(waiter)
    assert queues.give_up(waiter)
    assert not queues.give_up(waiter)
    assert not queues.give_up(holder)
    assert (queues.waiting, queues.seats_waiting, queues.cancelled) == (0, 0, 1)


def test_a_flow_that_fills_its_queues_does_not_starve_another() -> None:
    """An elephant with hundreds of requests waiting; a mouse gets its next seat in turn."""
    clock = Ticking()
    queues = level_of(clock, 4, QueuingSpec(64, 6, 50))
    elephant = [request("elephant") for _ in range(300)]
    for item in elephant:
        queues.start(item)
    assert queues.waiting > 200
    waits = []
    for _ in range(20):
        mouse = request("mouse")
        queues.start(mouse)
        turns = 0
        while not mouse.started:
            oldest = min((item for item in elephant if item.started and item.queue is not None
                          and item in item.queue.executing), key=lambda item: item.started)  # fmt: skip
            clock.pass_time(0.003)
            queues.finish(oldest)
            turns += 1
        waits.append(turns)
        queues.finish(mouse)
    # Six queues are the elephant's, one the mouse's: its turn comes within a round of them.
    assert max(waits) <= 14, waits


def served(flows: int, limit: int) -> Counter[str]:
    """Requests served of each flow while all of them always have twenty waiting."""
    clock = Ticking()
    queues = level_of(clock, limit, QueuingSpec(64, 1, 50))
    users = _apart(queues, flows)
    executing: list[Ticket] = []
    counted: Counter[str] = Counter()

    def send(user: str) -> None:
        item = request(user)
        assert queues.start(item) == ""
        waiting.append(item)

    waiting: list[Ticket] = []
    for user in users:
        for _ in range(20):
            send(user)
    for _ in range(60 * flows):
        executing += [item for item in waiting if item.started]
        waiting = [item for item in waiting if not item.started]
        done = executing.pop(0)
        clock.pass_time(0.003)
        queues.finish(done)
        counted[done.flow] += 1
        send(done.flow)
    return counted


def _apart(queues: FairQueues, flows: int) -> list[str]:
    """Users with a queue of their own each."""
    found: dict[int, str] = {}
    number = 0
    while len(found) < flows:
        item = request(f"user{number}")
        found.setdefault(queues._shortest(item).index, item.flow)
        number += 1
    return [*found.values()]


def test_busy_flows_are_served_alike() -> None:
    counted = served(flows=5, limit=3)
    assert max(counted.values()) - min(counted.values()) <= 6, counted


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["start", "finish", "give up", "limit"]),
        st.integers(0, 5),  # which flow, or which request
        st.integers(1, 6),  # seats
        st.integers(0, 8),  # final seats
    ),
    max_size=80,
)


@given(ACTIONS, st.booleans())
def test_seats_are_conserved(actions: list[tuple[str, int, int, int]], queued: bool) -> None:
    """Whatever happens: the seats in use are those of the requests that hold them, and none are left over."""
    clock = Ticking()
    queuing = QueuingSpec(8, 2, 3) if queued else None
    queues = level_of(clock, 6, queuing)
    alive: list[Ticket] = []
    lingering: list[Ticket] = []

    def check() -> None:
        executing = [item for item in alive if item.started]
        waiting = [item for item in alive if not item.started]
        assert queues.executing == len(executing)
        assert queues.waiting == len(waiting)
        assert queues.seats_waiting == sum(item.width for item in waiting)
        assert queues.seats_in_use == sum(item.width for item in (*executing, *lingering))
        assert {item for _, _, item in queues.requests()} == set(alive)
        if waiting and not lingering:
            assert executing, "requests wait, and no seat is held"

    for action, which, seats, final_seats in actions:
        if action == "start":
            item = request(f"u{which}", seats, final_seats, 0.01 if final_seats else 0.0)
            if not queues.start(item):
                alive.append(item)
        elif action == "limit":
            queues.configure(queuing, seats + 2)
        elif alive:
            item = alive[which % len(alive)]
            if action == "finish" and item.started:
                alive.remove(item)
                if item.additional_latency:
                    lingering.append(item)
                queues.finish(item)
            elif action == "give up" and not item.started:
                assert queues.give_up(item)
                alive.remove(item)
        check()
        clock.pass_time(0.1)
        lingering.clear()
        check()
    while alive:
        item = next(item for item in alive if item.started)
        alive.remove(item)
        queues.finish(item)
        clock.pass_time(0.1)
    assert (queues.seats_in_use, queues.seats_waiting, queues.idle) == (0, 0, True)
    assert not any(queue.busy or queue.seats_in_use or queue.waiting_work for queue in queues.queues)


def test_fewer_queues_are_left_as_they_empty() -> None:
    queues = level_of(Ticking(), 1, QueuingSpec(16, 4, 5))
    several = [request(f"u{number}") for number in range(12)]
    for item in several:
        queues.start(item)
    queues.configure(QueuingSpec(2, 1, 5), 1)
    assert len(queues.queues) > 2
    while pending := [item for item in several if item.started]:
        several.remove(pending[0])
        queues.finish(pending[0])
    assert not several
    assert len(queues.queues) == 2
    assert [queue.index for queue in queues.queues] == [0, 1]
