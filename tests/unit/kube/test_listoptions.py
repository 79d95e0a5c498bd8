"""Query strings into options."""

import pytest

from ktui.kube.listoptions import ListOptions, parse_get_options, parse_list_options, with_watch_defaults
from ktui.kube.status import StatusError


def test_every_option() -> None:
    options = parse_list_options(
        "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=5&continue=t&resourceVersion=7"
        "&resourceVersionMatch=Exact&allowWatchBookmarks=true&sendInitialEvents=false&timeoutSeconds=9&watch=1"
    )
    assert options == ListOptions("a=b", "metadata.name=x", 5, "t", "7", "Exact", True, False, 9, True, ())


def test_nothing_asked() -> None:
    assert parse_list_options("") == ListOptions()


@pytest.mark.parametrize(
    ("value", "means"),
    [
        ("true", True),
        ("", True),
        ("maybe", True),
        ("1", True),
        ("0", False),
        ("false", False),
        ("FALSE", False),
    ],
)
def test_booleans(value: str, means: bool) -> None:
    assert parse_list_options(f"watch={value}").watch is means
    assert parse_list_options(f"sendInitialEvents={value}").send_initial_events is means


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=abc", 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ("limit=", 'strconv.ParseInt: parsing "": invalid syntax'),
        (
            "limit=99999999999999999999",
            'strconv.ParseInt: parsing "99999999999999999999": value out of range',
        ),
        ("limit=x&timeoutSeconds=y", 'strconv.ParseInt: parsing "y": invalid syntax'),
    ],
)
def test_bad_numbers(query: str, message: str) -> None:
    with pytest.raises(StatusError) as error:
        parse_list_options(query)
    assert (error.value.code, error.value.reason, error.value.message) == (400, "BadRequest", message)


@pytest.mark.parametrize(
    ("query", "resource_version"),
    [
        ("resourceVersion=0&resourceVersion=5", "0"),
        ("resourceversion=5", ""),
        ("resourceVersion=%zz&resourceVersion=6", "6"),
        ("resourceVersion=1;2", ""),
        ("&&resourceVersion=+1", " 1"),
    ],
)
def test_as_go_reads_a_query(query: str, resource_version: str) -> None:
    assert parse_list_options(query).resource_version == resource_version


def test_unknown_parameters_are_named() -> None:
    options = parse_list_options("filedSelector=spec.nodeName%3Dx&pretty=true&limit=1&resourceversion=0")
    assert options.unknown == ("filedSelector", "resourceversion")
    assert parse_get_options("resourceVersion=5&resourceVersionMatch=Exact").unknown == (
        "resourceVersionMatch",
    )


@pytest.mark.parametrize(
    ("query", "gate", "streams"),
    [
        ("watch=1", True, True),
        ("watch=1&resourceVersion=0", True, True),
        ("watch=1", False, False),
        ("watch=1&resourceVersion=5", True, False),
        ("watch=1&resourceVersionMatch=NotOlderThan", True, False),
        ("watch=1&sendInitialEvents=false", True, False),
        ("", True, False),
    ],
)
def test_watch_defaults(query: str, gate: bool, streams: bool) -> None:
    options = with_watch_defaults(parse_list_options(query), watch_list=gate)
    assert (options.send_initial_events is True) is streams
