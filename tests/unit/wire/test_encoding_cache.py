"""What was encoded before comes out the same, and nothing else is taken for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import Resource, builtin
from ktui.wire.codec import CodecError
from ktui.wire.encode import LONGEST, encode_message, encode_object, forget, remembering

pytestmark = pytest.mark.slow

NUMBERS = st.one_of(st.booleans(), st.integers(-3, 3), st.floats(-3, 3), st.none(), st.text(max_size=2))
VALUES = st.recursive(
    NUMBERS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner), max_leaves=10
)


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    forget()


def _pods() -> Resource:
    return builtin("", "pods")


def _pod(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": {"containers": [container], **spec}}


@given(st.lists(VALUES, max_size=8))
def test_values_that_differ_in_json_are_never_taken_for_one_another(values: list[Any]) -> None:
    asked = remembering(lambda value, _path, _unknown: repr(value).encode())
    for value in values * 2:
        assert asked(value, "", []) == repr(value).encode()


def test_the_writer_is_asked_once_for_each_value() -> None:
    written = []
    asked = remembering(lambda value, path, _unknown: written.append((value, path)) or b"x")  # type: ignore[func-returns-value]
    asked({"a": 1}, "spec", [])
    asked({"a": 1}, "spec.other", [])
    asked({"a": True}, "spec", [])
    assert written == [({"a": 1}, "spec"), ({"a": True}, "spec")]


def test_a_long_value_is_written_each_time() -> None:
    written = []
    asked = remembering(lambda value, _path, _unknown: written.append(value) or b"x")  # type: ignore[func-returns-value]
    for _ in range(2):
        asked("x" * (LONGEST + 1), "", [])
    assert len(written) == 2


def test_unknown_members_are_told_every_time() -> None:
    pod = _pod({"name": "a", "colour": "red"}, size=3)
    for _ in range(3):
        unknown: list[str] = []
        encode_message("core.v1.Pod", pod, unknown)
        assert unknown == ["spec.containers[0].colour", "spec.size"]


def test_a_wrong_type_is_refused_every_time_and_by_its_own_path() -> None:
    for spec in ({}, {"hostname": "h"}):
        for _ in range(2):
            with pytest.raises(CodecError, match=r"spec\.containers\[0\]\.tty: expected true or false"):
                encode_object(_pod({"name": "a", "tty": 1}, **spec), _pods())


def test_true_does_not_stand_for_1() -> None:
    encode_object(_pod({"name": "a", "tty": True}), _pods())
    with pytest.raises(CodecError, match="tty"):
        encode_object(_pod({"name": "a", "tty": 1}), _pods())
