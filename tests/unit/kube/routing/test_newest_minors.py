"""Kubernetes 1.36 to 1.38 do what newest.toml says, and an etcd without RangeStream changes nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ktui.kube import continuetoken
from ktui.kube.gates import PREVIEWS
from ktui.kube.routing import decide_list, sentences
from ktui.kube.routing.cache_state import CacheState, Readiness, RevisionAge, assumed_state
from ktui.kube.routing.parameters import DecodedToken, TokenState
from ktui.kube.routing.plan import EtcdOp, Plan
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import parse_request
from ktui.kube.versions import behaviour_of
from tests.questions import asked

from . import published

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("newest.toml").read_text("utf-8"))[
    "case"
]
STREAMS = {"3.7": True, "3.6": False, "": None}
TOKEN = continuetoken.encode(80, "shop/web\0")


def rows() -> list[Any]:
    return [
        pytest.param(case, *key.partition(" ")[::2], wanted, id=f"{key} {case['name']}")
        for case in CASES
        for key, wanted in case.items()
        if key.startswith("1.")
    ]


def shown(plan: Plan) -> str:
    ops = " ".join(plan.etcd_ops)
    instead = f" instead of {' '.join(plan.unstreamed_ops)}" if plan.unstreamed else ""
    error = plan.error
    return ops + instead + (f", {error.code} {error.reason}".rstrip() if error else "")


@pytest.mark.parametrize(("case", "version", "etcd", "wanted"), rows())
def test_case(case: dict[str, Any], version: str, etcd: str, wanted: str) -> None:
    assert case["from"]
    request = parse_request(case["path"].replace("{token}", TOKEN))
    age = RevisionAge(case.get("age", "old"))
    state = assumed_state(request, rv_age=age, token_age=age, range_stream=STREAMS[etcd])
    got = shown(predict(request, state, behaviour_of(version)))
    assert got.replace("504 Timeout", "504") == wanted


@pytest.mark.usefixtures("each_refusal_made_once")
@pytest.mark.parametrize("version", ["1.37", "1.38"])
@pytest.mark.parametrize("supported", [True, None])
def test_streams_change_the_operation_alone(version: str, supported: bool | None) -> None:
    """Every published cell of 1.36, with the rule of the stream applied to its axes."""
    doc = published.tables()["list"]
    streamed = 0
    for *parameters, cache, progress, snapshot, outcome in published.cells(
        doc["axes"], doc["tables"]["T3"], doc["outcomes"]
    ):
        _, _, limit, token, selectors, recursive = parameters
        state = published.state(cache, progress, snapshot, supported)
        plan = decide_list(*published.list_question(*parameters), state, behaviour_of(version))
        ops = list(outcome["etcd_ops"])
        collection = bool(recursive) or token != "none"
        if collection and not (limit and selectors):
            ops = ["range_stream" if op.startswith("range_") else op for op in ops]
        assert list(plan.etcd_ops) == ops, parameters
        assert list(plan.unstreamed_ops) == outcome["etcd_ops"]
        streamed += "range_stream" in ops
        wanted = outcome | {"etcd_ops": ops}
        got = published.shown(plan)
        assert {key: got[key] for key in wanted} == wanted
    assert streamed > 500


def test_without_the_gate_nothing_is_streamed() -> None:
    off = behaviour_of("1.37", {"EtcdRangeStream": False})
    plan = decide_list(*asked(), CacheState(Readiness.DISABLED, range_stream=True), off)
    assert plan.etcd_ops == (EtcdOp.ALL,) and plan.unstreamed is None


@pytest.mark.parametrize(
    ("supported", "text"),
    [
        (True, "range_stream"),
        (None, "range_stream if etcd ≥ 3.7, else range_full"),
        (False, "range_full (this etcd has no RangeStream: falls back, asked again after 10 minutes)"),
    ],
)
def test_the_reads_in_words(supported: bool | None, text: str) -> None:
    state = CacheState(Readiness.DISABLED, range_stream=supported)
    plan = decide_list(*asked(), state, behaviour_of("1.37"))
    assert sentences.etcd_reads(plan) == text
    memory = "etcd's whole answer" if supported is False else "1.5 MiB"
    assert memory in sentences.etcd_memory(plan)


def test_a_preview_says_so() -> None:
    for minor, release in PREVIEWS.items():
        assert behaviour_of(f"1.{minor}").preview == release
    assert behaviour_of("1.36").preview == ""


def test_a_token_makes_a_collection() -> None:
    token = DecodedToken(TokenState.VALID, 80, "shop/web\0")
    question = asked(token=token, recursive=False)
    state = CacheState(Readiness.DISABLED, range_stream=True)
    assert decide_list(*question, state, behaviour_of("1.37")).etcd_ops == (EtcdOp.STREAM,)
