"""Access patterns of clients, found in the requests of a log."""

from __future__ import annotations

from typing import Any

from ktui.contract.events import CacheStatus, RequestFinished, RequestStarted, ServerInfo
from ktui.core import access_patterns
from ktui.core.access_patterns import REQUESTS_PER_SHAPE, SHAPES, AccessPatterns
from ktui.core.lab.form import ListForm, cheaper_form, path_of, sendable
from ktui.core.lab.form_prediction import predict_form
from ktui.core.prediction.prediction import alternatives_of
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.kube.access_pattern import BIG_ANSWER, UNKNOWN
from ktui.kube.continuetoken import encode
from ktui.kube.resources import BUILTIN

AGENT = "system:serviceaccount:kube-system:cilium"
JSON = "application/json"


def started(number: int, at: float, query: str = "", **fields: Any) -> RequestStarted:
    told: dict[str, Any] = {
        "verb": "LIST", "path": "/api/v1/pods", "resource": "pods", "namespace": "", "name": "",
        "client": "agent", "user_agent": "agent/1.0", "peer": "10.0.0.1:5000",
    }  # fmt: skip
    return RequestStarted(id=number, at=at, query=query, **(told | fields))


def fed(*events: RequestStarted | RequestFinished) -> State:
    state = State()
    server = ServerInfo(
        ktui_version="1", kube_version="1.36", etcd_version="3.6", etcd_kind="embedded", endpoints=[],
        writable=True, progress="supported",
    )  # fmt: skip
    cache = CacheStatus(resource="pods", state="ready", rv=100, objects=100, bytes=10**6)
    apply(state, [server, cache, *events])
    return state


def advised(state: State, number: int) -> dict[str, str]:
    """Change → why of everything cheaper, for that request."""
    return {each.change: each.why for each in alternatives_of(state.requests[number], state).cheaper}


def test_the_same_again_and_again_is_polling() -> None:
    state = fed(*(started(n, 100 + 5 * n, "resourceVersion=0") for n in range(6)))
    pattern = state.access_patterns.of(state.requests[5])
    assert (pattern.repeated_every, pattern.times, pattern.together) == (5.0, 6, False)
    assert any("again every 5 s (6 times so far)" in why for why in advised(state, 5).values())


def test_a_refused_request_is_told_nothing_that_would_make_its_answer_cheaper() -> None:
    state = fed(*(started(n, 100 + 5 * n) for n in range(6)))
    assert "WATCH instead of polling" in advised(state, 5)
    for status in (404, 429):
        apply(state, [RequestFinished(id=5, at=126.0, route="none", status=status, ms=1.0)])
        assert not advised(state, 5)
    apply(state, [RequestFinished(id=5, at=126.0, route="none", status=504, ms=3000.0)])
    assert "WATCH instead of polling" in advised(state, 5), "it was tried, and took its time"


def test_three_times_is_no_polling_yet() -> None:
    state = fed(*(started(n, 100 + 5 * n) for n in range(3)))
    assert state.access_patterns.of(state.requests[2]).repeated_every is None


def test_a_poll_that_goes_on_from_its_last_revision_is_one_poll() -> None:
    state = fed(*(started(n, 100 + 2 * n, f"resourceVersion={n + 10}") for n in range(6)))
    assert state.access_patterns.of(state.requests[0]).times == 6


def test_other_clients_and_other_questions_are_others() -> None:
    state = fed(
        *(started(n, n, "limit=1") for n in range(5)),
        *(started(10 + n, n, "limit=1", user_agent="b/1", client="b") for n in range(2)),
        started(20, 3.0, "limit=2"),
    )
    assert state.access_patterns.of(state.requests[11]).times == 2
    assert state.access_patterns.of(state.requests[20]).times == 1


def test_each_of_many_agents_polls_at_its_own_pace() -> None:
    events = [
        started(100 * turn + n, 30.0 * turn + n, peer=f"10.0.0.{n}:5000")
        for turn in range(6)
        for n in range(6)
    ]
    state = fed(*events)
    assert state.access_patterns.of(state.requests[505]).repeated_every == 30.0


def test_agents_that_ask_for_their_own_at_the_same_time_are_a_herd() -> None:
    state = fed(
        *(
            started(n, 50 + 0.1 * n, f"fieldSelector=spec.nodeName%3Dn{n}", peer=f"10.0.0.{n}:1")
            for n in range(20)
        )
    )  # fmt: skip
    pattern = state.access_patterns.of(state.requests[7])
    assert (pattern.agents, pattern.together, pattern.repeated_every) == (20, True, None)
    assert any("20 agents ask at the same time" in why for why in advised(state, 7).values())


def test_a_client_that_reconnects_each_time_is_no_herd() -> None:
    state = fed(*(started(n, 50 + 0.5 * n, peer=f"10.0.0.1:{4000 + n}") for n in range(20)))
    pattern = state.access_patterns.of(state.requests[19])
    assert (pattern.agents, pattern.repeated_every) == (1, 0.5)


def test_a_recording_without_connections_shows_no_herd() -> None:
    state = fed(*(started(n, 50, f"labelSelector=n%3D{n}", peer="") for n in range(20)))
    assert not state.access_patterns.of(state.requests[1]).together


def test_pages_are_counted_up_to_the_selected_one() -> None:
    state = fed(
        started(0, 1, "limit=50"),
        *(started(n, 1 + n, f"limit=50&continue={encode(9, f'a/{n}')}") for n in range(1, 12)),
    )
    assert state.access_patterns.of(state.requests[11]).pages == 12
    assert state.access_patterns.of(state.requests[3]).pages == 4
    assert state.access_patterns.of(state.requests[0]).pages == 0
    assert state.access_patterns.of(state.requests[11]).repeated_every is None, "pages are one LIST"
    assert any("12 pages of 50" in why for why in advised(state, 11).values())


def test_the_form_is_advised_for_large_answers_only() -> None:
    def answered(size: int) -> set[str]:
        done = RequestFinished(id=1, status=200, route="cache", ms=1, encoded_bytes=size)
        return set(advised(fed(started(1, 1, "resourceVersion=0", accept=JSON), done), 1))

    assert answered(BIG_ANSWER) == {"ask for metadata only", "accept protobuf"}
    assert answered(BIG_ANSWER - 1) == set()


def test_an_account_that_several_use() -> None:
    state = fed(
        started(1, 1, "resourceVersion=0", user=AGENT),
        started(2, 2, "resourceVersion=0", user=AGENT, client="operator", user_agent="operator/2"),
    )
    assert state.access_patterns.of(state.requests[1]).account_shared_with == ("operator",)
    assert any("used by operator as well" in why for why in advised(state, 1).values())


def test_who_polls_what_is_composed() -> None:
    polls = [started(n, 100 + 5 * n, "resourceVersion=0") for n in range(6)]
    own = [started(50 + n, 100 + n, "resourceVersion=0", user_agent="ktui/1.0") for n in range(9)]
    state = fed(*polls, *own)
    pattern = state.access_patterns.of_target("/api/v1/pods?resourceVersion=0")
    assert (pattern.client, pattern.repeated_every) == ("agent", 5.0)
    assert state.access_patterns.of_target("/api/v1/nodes") is UNKNOWN


def test_memory_is_bounded() -> None:
    seen = AccessPatterns()
    for n in range(3 * SHAPES):
        for _ in range(2):
            seen.add(started(n, n, path=f"/api/v1/namespaces/n{n}/pods", user=f"u{n}"))
    for n in range(3 * REQUESTS_PER_SHAPE):
        seen.add(started(n, n))
    assert len(seen._shapes) == SHAPES
    assert max(map(len, seen._shapes.values())) == REQUESTS_PER_SHAPE
    assert len(seen._accounts) == access_patterns.ACCOUNTS


def test_writes_are_no_matter() -> None:
    state = fed(*(started(n, n, verb="POST") for n in range(9)))
    assert state.access_patterns.of(state.requests[8]).repeated_every is None


def test_the_lab_offers_a_watch_for_what_is_polled() -> None:
    state = fed(*(started(n, 100 + 5 * n) for n in range(6)))
    explanation = predict_form(ListForm(), BUILTIN, state).explanation
    assert explanation is not None
    watch = next(advice for advice in explanation.advice if advice.id == "a.watch")
    assert watch.why.startswith("agent asks again every 5 s (6 times so far)")
    assert sendable(watch)
    form = cheaper_form(watch, ListForm())
    assert form.stream and path_of(form, BUILTIN.by_name("pods")).count("sendInitialEvents=true") == 1  # type: ignore[arg-type]


def test_a_watch_whose_initial_events_have_no_end_is_not_fired() -> None:
    state = fed(*(started(n, 100 + 5 * n) for n in range(6)))
    explanation = predict_form(ListForm(kube_version="1.24"), BUILTIN, state).explanation
    assert explanation is not None
    assert [sendable(advice) for advice in explanation.advice if advice.id == "a.watch"] == [False]


def test_header_advice_becomes_a_form() -> None:
    explanation = predict_form(ListForm(resource_version="0"), BUILTIN, fed()).explanation
    assert explanation is not None
    forms = {advice.id: cheaper_form(advice, ListForm(resource_version="0")) for advice in explanation.advice}
    assert {name: form.accept for name, form in forms.items()} == {
        "a.metadata": "metadata",
        "a.protobuf": "protobuf",
    }
