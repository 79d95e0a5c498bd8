"""Illegal combinations of list options."""

import pytest

from ktui.kube.listoptions import parse_list_options, read_list, read_watch, validate_list, validate_watch
from ktui.kube.resources import BUILTIN
from ktui.kube.status import StatusError
from ktui.kube.versions import behaviour_of

NEEDS_RV = (
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
)
NO_CONTINUE = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"
EXACT_0 = 'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
UNKNOWN = 'resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""'
NO_STREAM = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"
NEEDS_MATCH = (
    "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
)
GATE_OFF = (
    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch "
    "unless the WatchList feature gate is enabled"
)
NEEDS_STREAM = (
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
    "unless sendInitialEvents is provided"
)
ONLY_NOT_OLDER = 'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"'
NOT_ON_WATCH = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch"


def _text(errors: tuple[str, ...]) -> str:
    text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
    return f'ListOptions.meta.k8s.io "" is invalid: {text}'


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("resourceVersionMatch=Exact", (NEEDS_RV,)),
        ("resourceVersionMatch=x", (NEEDS_RV, UNKNOWN)),
        ("resourceVersionMatch=x&resourceVersion=5", (UNKNOWN,)),
        ("resourceVersionMatch=Exact&resourceVersion=0", (EXACT_0,)),
        ("resourceVersionMatch=Exact&continue=t", (NEEDS_RV, NO_CONTINUE)),
        ("sendInitialEvents=false", (NO_STREAM,)),
    ],
)
def test_list(query: str, errors: tuple[str, ...]) -> None:
    with pytest.raises(StatusError) as error:
        validate_list(parse_list_options(query), behaviour_of("1.36"))
    assert (error.value.code, error.value.reason) == (422, "Invalid")
    assert error.value.message == _text(errors)
    assert error.value.details is not None
    assert error.value.details["group"] == "meta.k8s.io"
    assert error.value.details["kind"] == "ListOptions"
    assert len(error.value.details["causes"]) == len(errors)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "limit=-1",
        "resourceVersionMatch=&resourceVersion=",
        "resourceVersion=5&resourceVersionMatch=Exact",
    ],
)
def test_list_accepts(query: str) -> None:
    validate_list(parse_list_options(query), behaviour_of("1.36"))


def test_sendinitialevents_was_unknown_before_1_27() -> None:
    validate_list(parse_list_options("sendInitialEvents=true"), behaviour_of("1.26"))


@pytest.mark.parametrize(
    ("version", "query", "errors"),
    [
        ("1.36", "sendInitialEvents=true", (NEEDS_MATCH,)),
        ("1.36", "sendInitialEvents=true&resourceVersionMatch=Exact", (NEEDS_MATCH, ONLY_NOT_OLDER)),
        ("1.36", "resourceVersionMatch=NotOlderThan", (NEEDS_STREAM,)),
        ("1.36", "sendInitialEvents=1&resourceVersionMatch=NotOlderThan&continue=t", (NO_CONTINUE,)),
        ("1.33", "sendInitialEvents=1&resourceVersionMatch=NotOlderThan", (GATE_OFF,)),
        ("1.33", "sendInitialEvents=1", (NEEDS_MATCH, GATE_OFF)),
        ("1.26", "resourceVersionMatch=Exact&resourceVersion=5", (NOT_ON_WATCH,)),
        ("1.26", "resourceVersionMatch=Exact", (NOT_ON_WATCH, NEEDS_RV)),
    ],
)
def test_watch(version: str, query: str, errors: tuple[str, ...]) -> None:
    with pytest.raises(StatusError) as error:
        validate_watch(parse_list_options("watch=1&" + query), behaviour_of(version))
    assert error.value.message == _text(errors)


def test_watch_accepts_a_streaming_list() -> None:
    query = "watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan"
    validate_watch(parse_list_options(query), behaviour_of("1.36"))


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("labelSelector=%3D&resourceVersionMatch=x&fieldSelector=nope%3D1", 400),
        ("fieldSelector=nope&resourceVersionMatch=x", 400),
        ("resourceVersionMatch=x&fieldSelector=nope%3D1", 422),
        ("fieldSelector=nope%3D1", 400),
    ],
)
def test_the_first_fault_is_told(query: str, code: int) -> None:
    pods = BUILTIN.by_name("pods")
    assert pods is not None
    for read in (read_list, read_watch):
        with pytest.raises(StatusError) as error:
            read(parse_list_options(query), behaviour_of("1.36"), pods)
        assert error.value.code == code


def test_reading_gives_the_selectors() -> None:
    pods = BUILTIN.by_name("pods")
    assert pods is not None
    options = parse_list_options("labelSelector=app%3Dweb&fieldSelector=spec.host%3Dn1")
    labels, fields = read_list(options, behaviour_of("1.36"), pods)
    assert str(labels) == "app=web"
    assert fields.requires("spec.nodeName") == "n1"
