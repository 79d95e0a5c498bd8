"""Why a request leaves its queue."""

from __future__ import annotations

import asyncio

import pytest

from ktui.apiserver.chain import Rejected, Ticket
from ktui.flowcontrol.controller import PriorityAndFairness
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import AUTHENTICATED, Requester
from ktui.kube.versions import behaviour_of

pytestmark = pytest.mark.anyio
WHO, ASKED = Requester("jane", (AUTHENTICATED,)), RequestAttributes("list", "", "v1", "pods")


async def enter(control: PriorityAndFairness, minor: int, patience: float, *, gone: bool) -> Ticket:
    ticket = Ticket(control.classify(WHO, ASKED, minor), WHO, ASKED, 1)
    leave = (lambda: asyncio.ensure_future(asyncio.sleep(0))) if gone else None
    await control.enter(ticket, patience, behaviour_of(f"1.{minor}"), leave)
    return ticket


@pytest.mark.parametrize(
    ("minor", "gone", "reason"),
    [(28, True, "cancelled"), (29, True, "time-out"), (28, False, "time-out"), (36, False, "time-out")],
)
async def test_a_client_that_has_gone_was_cancelled_until_1_28(minor: int, gone: bool, reason: str) -> None:
    control = PriorityAndFairness(1, 0)
    first = await enter(control, minor, 1.0, gone=False)
    with pytest.raises(Rejected) as rejected:
        await enter(control, minor, 30.0 if gone else 0.001, gone=gone)
    assert rejected.value.reason == reason
    first.leave()
    assert first.executed > 0
