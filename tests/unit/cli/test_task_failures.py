"""A background task of the server that fails is sent to the subscribers of its telemetry."""

from __future__ import annotations

import asyncio

from ktui.cli.main import parser_of
from ktui.cli.server.composition import Composition
from ktui.cli.server.serve_config import ServeConfig
from ktui.contract.events import AnyEvent, TaskFailures


def failures(events: list[AnyEvent]) -> list[list[str]]:
    return [event.failures for event in events if isinstance(event, TaskFailures)]


def test_a_failed_task_is_published_and_part_of_the_present_state() -> None:
    async def scenario() -> None:
        composition = Composition(ServeConfig.from_arguments(parser_of("serve").parse_args([])))
        bus, failed = composition._bus, asyncio.Event()
        follower = bus.subscribe()

        async def fails() -> None:
            failed.set()
            raise RuntimeError("a bug")

        composition._keep_running("the census", fails)
        await failed.wait()
        async for batch in follower.batches():
            if told := failures(batch):
                break
        assert told == [["the census failed, trying again every 1 s: RuntimeError: a bug"]]
        # Who comes later is told as well, as long as it has not recovered.
        assert failures(list(bus.present())) == told
        await composition._supervisor.stop()

    asyncio.run(scenario())
