"""The meter follows its request through awaits and tasks, and no other."""

import asyncio

from ktui.telemetry.meter import Meter, current_meter, metered


def test_two_requests_side_by_side_count_apart() -> None:
    async def request(meter: Meter, objects: int) -> None:
        with metered(meter):
            for _ in range(objects):
                current_meter().fetched += 1
                await asyncio.sleep(0)

    async def run() -> tuple[int, int]:
        one, two = Meter(request_id=1), Meter(request_id=2)
        await asyncio.gather(request(one, 3), request(two, 5))
        return one.fetched, two.fetched

    assert asyncio.run(run()) == (3, 5)


def test_outside_a_request_nothing_is_kept() -> None:
    current_meter().fetched += 7
    assert current_meter().fetched == 0


def test_a_phase_adds_up_even_when_its_block_fails() -> None:
    meter = Meter()
    for _ in range(2):
        try:
            with meter.phase("etcd"):
                raise ValueError
        except ValueError:
            pass
    assert meter.phases["etcd"] > 0
