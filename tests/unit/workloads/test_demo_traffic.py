"""The demo's clients ask on, whatever they are answered."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from itertools import chain, repeat
from typing import Any

import pytest

from ktui.supervision import Failure, Supervisor
from ktui.workloads.behaviours import client_reflector
from ktui.workloads.demo import light_traffic
from ktui.workloads.demo.light_traffic import INFORMERS, start_kubelets, start_readers
from ktui.workloads.demo.plan import DemoPlan, DemoSize, make_plan
from ktui.workloads.running.fleet import Fleet
from tests.unit.client.rude import BROKEN, Answer, rude_server, whole

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LIST = whole(b'{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]}')
PAGE = whole(b'{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"a b/&\\u001b"},"items":[{}]}')
ODD = whole(b'{"kind":"PodList","metadata":{"resourceVersion":7,"continue":{}},"items":{}}')
ANSWERS = (*BROKEN.values(), ODD, PAGE, LIST)
_AGENT = re.compile(r"(?i)\r\nuser-agent: (\S+)")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two requests others run, and nothing else."""
    sleep = asyncio.sleep

    async def at_once(seconds: float, result: Any = None) -> Any:
        return await sleep(0, result)

    for module in (light_traffic, client_reflector):
        monkeypatch.setattr(module.asyncio, "sleep", at_once)


def agents_of(plan: DemoPlan) -> set[str]:
    pollers = {poll.user_agent for poll in light_traffic.polls_of(plan)}
    return {*pollers, *(agent for agent, _, _ in INFORMERS), light_traffic.BACKUP}


class Broken:
    """Gives each client all answers in turn, then good ones; `done` once all have asked on after that."""

    def __init__(self, clients: set[str]) -> None:
        self.asked: Counter[str] = Counter()
        self.done = asyncio.Event()
        self._clients = clients
        self._answers = {client: chain(ANSWERS, repeat(LIST)) for client in clients}

    def __call__(self, path: str, head: str) -> Answer:
        found = _AGENT.search(head)
        client = found[1] if found else ""
        self.asked[client] += 1
        if all(self.asked[each] > len(ANSWERS) + 2 for each in self._clients):
            self.done.set()
        return next(self._answers[client])


async def test_broken_answers_end_no_reader() -> None:
    plan = make_plan(DemoSize(pods=20, nodes=3, namespaces=4))
    answers = Broken(agents_of(plan))
    failures: list[Failure] = []
    supervisor = Supervisor(lambda: failures.extend(supervisor.failures))
    async with rude_server(answers) as connection:
        fleet = Fleet(connection)
        start_readers(supervisor, fleet, plan)
        await answers.done.wait()
        await supervisor.stop()
        await fleet.close()
    assert failures == [], "a broken answer is the server's fault, not a bug of the client"


async def test_broken_answers_end_no_kubelet() -> None:
    plan = make_plan(DemoSize(pods=20, nodes=3, namespaces=4))
    answers = Broken({"kubelet/v1.36.2"})
    supervisor = Supervisor()
    async with rude_server(answers) as connection:
        fleet = Fleet(connection)
        start_kubelets(supervisor, fleet, plan)
        await answers.done.wait()
        await supervisor.stop()
        await fleet.close()
    assert not supervisor.failures


async def test_a_bug_in_one_client_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(client: object, lists: object, node: str) -> None:
        raise KeyError(node)

    monkeypatch.setattr(light_traffic, "boot_agent", breaks)
    plan = make_plan(DemoSize(pods=20, nodes=3, namespaces=4))
    answers, failed = Broken(agents_of(plan)), asyncio.Event()
    supervisor = Supervisor(failed.set)
    async with rude_server(answers) as connection:
        fleet = Fleet(connection)
        start_readers(supervisor, fleet, plan)
        await asyncio.gather(answers.done.wait(), failed.wait())
        (failure,) = supervisor.failures
        assert failure.task == "demo client cilium-agent" and isinstance(failure.error, KeyError)
        await supervisor.stop()
        await fleet.close()
