"""Everyday requests do, in each version, what everyday.toml says."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ktui.kube import continuetoken
from ktui.kube.gates import NEWEST_MINOR, OLDEST_MINOR
from ktui.kube.routing.cache_state import Readiness, RevisionAge, assumed_state
from ktui.kube.routing.plan import Plan
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import parse_request
from ktui.kube.versions import behaviour_of

TABLE = Path(__file__).with_name("everyday.toml")
CASES: list[dict[str, Any]] = tomllib.loads(TABLE.read_text("utf-8"))["case"]
TOKENS = {
    "{token}": continuetoken.encode(4711, "shop/web\0"),
    "{latest}": continuetoken.encode(-1, "shop/web\0"),
}


def minors_of(key: str) -> range:
    """The minors of `1.31-1.33`, or of `1.34-`, which has no end."""
    first, _, last = key.partition("-")
    return range(int(first[2:]), (int(last[2:]) if last else NEWEST_MINOR) + 1)


def rows() -> list[Any]:
    found = []
    for case in CASES:
        for key, expected in case.items():
            if key.startswith("1."):
                for minor in minors_of(key):
                    found.append(pytest.param(case, minor, expected, id=f"1.{minor} {case['name']}"))
    return found


def shown(plan: Plan) -> str:
    limit = {True: "honoured", False: "ignored", None: "-"}[plan.limit_honoured]
    outcome = str(plan.error.code) if plan.error else plan.consistency or "-"
    return f"{plan.source} {' '.join(plan.reasons)} | {limit} | {outcome}"


@pytest.mark.parametrize(("case", "minor", "expected"), rows())
def test_everyday_request(case: dict[str, Any], minor: int, expected: str) -> None:
    path = case["path"]
    for name, token in TOKENS.items():
        path = path.replace(name, token)
    request = parse_request(path)
    age = RevisionAge(case.get("age", "current"))
    state = assumed_state(
        request,
        readiness=Readiness(case.get("cache", "ready")),
        progress=case.get("progress", True),
        rv_age=age,
        token_age=age,
        snapshot=case.get("snapshot", True),
    )
    assert shown(predict(request, state, behaviour_of(f"1.{minor}"))) == expected


def test_every_case_covers_every_version() -> None:
    for case in CASES:
        minors = [minor for key in case if key.startswith("1.") for minor in minors_of(key)]
        assert minors == list(range(OLDEST_MINOR, NEWEST_MINOR + 1)), case["name"]
