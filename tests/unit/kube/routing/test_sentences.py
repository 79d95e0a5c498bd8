"""A plan in words: each field has one way to be written."""

from __future__ import annotations

import pytest

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing import decide_get, decide_list, decide_watch, sentences
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.plan import EtcdOp, Fallback, Plan, Source, Wait
from ktui.kube.routing.predicates import Predicate
from ktui.kube.versions import behaviour_of
from tests.questions import asked

WATCH = ListOptions(watch=True, resource_version="7")
READY = CacheState(cache_rv=100, oldest_snapshot_rv=60, oldest_watch_rv=60)
COLD = CacheState(Readiness.INITIALIZING)


def test_what_a_predicate_saw_is_written_beside_its_question() -> None:
    plan = decide_list(*asked("80", limit=500), READY, behaviour_of("1.36"))
    assert [(line.rule, line.saw, line.taken) for line in sentences.trace_lines(plan)][-3:] == [
        ("older than every snapshot?", "80, oldest snapshot 60", False),
        ("watch cache ready", "ready", False),
        ("cache behind the exact revision?", "80, cache at 100", False),
    ]


def test_every_question_is_asked_by_one_predicate() -> None:
    questions = [predicate.parameters for predicate in Predicate]
    assert len(questions) == len(set(questions)) and all(questions)


@pytest.mark.parametrize(
    ("plan", "value"),
    [
        (decide_list(*asked("0"), READY, behaviour_of("1.36")), "none"),
        (decide_list(*asked(), READY, behaviour_of("1.36")), "up_to_3s"),
        (decide_list(*asked("7"), COLD, behaviour_of("1.30")), "until_ready+up_to_3s"),
        (
            decide_watch(WATCH, COLD, behaviour_of("1.30")),
            "until_ready",
        ),
        (decide_get("7", COLD, behaviour_of("1.30")), "up_to_3s"),
    ],
)
def test_the_published_wait(plan: Plan, value: str) -> None:
    assert sentences.wait_value(plan) == value


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            decide_list(*asked("200", limit=5, match="NotOlderThan"), READY, behaviour_of("1.36")),
            [
                "at least rv",
                "limit honoured",
                "1 seat",
                "may wait up to 3s",
                "else 504 Too large resource version after 3s if the cache stays behind",
            ],
        ),
        (
            decide_list(*asked("0", limit=5), READY, behaviour_of("1.36")),
            ["any", "limit ignored", "1 seat"],
        ),
        (
            decide_watch(ListOptions(watch=True, resource_version="80"), READY, behaviour_of("1.36")),
            ["1 seat"],
        ),
    ],
)
def test_what_an_answer_guarantees(plan: Plan, words: list[str]) -> None:
    assert sentences.guarantees(plan, "1 seat") == words


def test_a_consistent_read_without_fallback_says_so() -> None:
    plan = Plan(
        Source.CACHE,
        ("c.consistent",),
        (),
        (EtcdOp.PROBE,),
        wait=Wait(fresh=True),
        fallback=Fallback.TIMEOUT_IF_LATE,
    )
    assert sentences.fallback(plan) == "none: 504 after 3s"
