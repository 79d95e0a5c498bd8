"""Requests are put below the change that they react to."""

from __future__ import annotations

import itertools

import pytest

from ktui.contract.events import AnyEvent, EtcdCall, RequestFinished, RequestStarted
from ktui.workloads.behaviours.causal_trace import CausalTrace, short_call
from ktui.workloads.running.users import CAUSE, Tag

RUN = "0badcafe"
_ids = itertools.count(1)
_CREATE = 'compare:<target:MOD key:"/registry/a" mod_revision:0 > success:<request_put:<key:"/registry/a"'


def request(
    label: str, revision: int, cause: int = 0, *, phase: str = "apply", verb: str = "PATCH", run: str = RUN
) -> list[AnyEvent]:
    """A request that makes a change with this revision; 0: it is refused."""
    agent = f"kubectl/v1 {CAUSE}{cause}" if cause else "kubectl/v1"
    number, path = next(_ids), "/apis/x"
    started = RequestStarted(
        at=float(number), id=number, verb=verb, path=path, query="", resource="", namespace="", name="",
        client="kubectl", user_agent=Tag("chain", run, "", phase, label).user_agent(agent),
    )  # fmt: skip
    text = f"{_CREATE} value_size:7 lease:42 >> failure:<>"
    call = EtcdCall(at=float(number), op="txn", request=text, request_id=number, revision=revision)
    status = 200 if revision else 409
    finished = RequestFinished(at=float(number), id=number, status=status, route="etcd", ms=1.0)
    return [started, *([call] if revision else []), finished]


def traced(*requests: list[AnyEvent]) -> CausalTrace:
    trace = CausalTrace(RUN, "")
    for event in itertools.chain.from_iterable(requests):
        trace.take(event)
    return trace


def test_each_effect_is_below_its_cause() -> None:
    trace = traced(
        request("kubectl: apply", 10),
        request("create ReplicaSet", 11, 10),
        request("create Pod", 12, 11),
        request("status", 0, 11),
        request("bind Pod", 13, 12),
        request("Event", 14, 10),
        request("of nothing", 20, 19),
        request("kubectl: apply", 30, run="another"),
        request("LIST", 0, verb="LIST"),
    )
    found = trace.forests("kubectl: ")["apply"]
    assert [(depth, step.tag.label) for depth, step in found] == [
        (0, "kubectl: apply"),
        (1, "create ReplicaSet"),
        (2, "create Pod"),
        (3, "bind Pod"),
        (2, "status"),
        (1, "Event"),
    ]
    assert [step.status for _, step in found] == [200, 200, 200, 200, 409, 200]
    assert found[0][1].document()["etcd"][0]["revision"] == 10


def test_the_newest_command_of_a_phase_and_what_came_between() -> None:
    trace = traced(
        request("kubectl: scale", 10, phase="conflict"),
        request("kubectl: scale", 20, phase="conflict"),
        request("another client", 21, phase="conflict"),
        request("retry", 22, 21, phase="conflict"),
        request("clean up", 30, phase="clean up"),
    )
    forests = trace.forests("kubectl: ")
    assert {phase: [step.revision for _, step in found] for phase, found in forests.items()} == {
        "conflict": [20, 21, 22]
    }


@pytest.mark.parametrize(
    ("op", "text", "said"),
    [
        ("txn", f"{_CREATE} value_size:7 >> failure:<>", "IF mod_revision=0 PUT"),
        ("txn", f"{_CREATE} value_size:7 lease:42 >> failure:<>", "IF mod_revision=0 PUT +lease"),
        (
            "txn",
            'compare:<target:MOD key:"/a" mod_revision:9 > success:<request_delete_range:<key:"/a" >> '
            'failure:<request_range:<key:"/a" >>',
            "IF mod_revision=9 DELETE",
        ),
        ("lease_grant", "TTL:3660", "lease_grant"),
    ],
)
def test_a_transaction_in_a_few_words(op: str, text: str, said: str) -> None:
    assert short_call(EtcdCall(at=0.0, op=op, request=text)) == said
