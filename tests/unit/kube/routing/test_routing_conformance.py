"""Every published cell: LIST by minor and gate variant, GET and WATCH by minor."""

import copy
from typing import Any

import pytest

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing import decide_get, decide_list, decide_watch
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of

from . import published


@pytest.mark.slow
@pytest.mark.usefixtures("each_refusal_made_once")
@pytest.mark.parametrize(("version", "gates", "table"), published.variants())
def test_list_cells(version: str, gates: dict[str, bool], table: str) -> None:
    doc = published.tables()
    behaviour = behaviour_of(version, gates)
    wrong = []
    checked = 0
    published_list = doc["list"]
    for cell in published.cells(
        published_list["axes"], published_list["tables"][table], published_list["outcomes"]
    ):
        *parameters, cache, progress, snapshot, outcome = cell
        state = published.state(cache, progress, snapshot)
        got = published.shown(decide_list(*published.list_question(*parameters), state, behaviour))
        checked += 1
        wrong += _differences(cell[:-1], got, outcome)
    assert checked > 10_000
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("version", KNOWN_VERSIONS)
def test_get_cells(version: str) -> None:
    behaviour = behaviour_of(version)
    wrong = []
    for cell, outcome in of_version(published.tables()["get"], version).items():
        rv, cache = cell.split("|")
        got = published.shown(decide_get(published.revision(rv), published.state(cache), behaviour))
        wrong += _differences((cell,), got, published.wanted(outcome))
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("version", KNOWN_VERSIONS)
def test_watch_cells(version: str) -> None:
    watch = published.tables()["watch"]
    table = watch["tables"][of_version(watch["minors"], version)]
    behaviour = behaviour_of(version)
    revisions = {"unset": "", "0": "0", "evicted": "40", "buffered": "80", "ahead": "110", "beyond": "500"}
    readiness = {"ready": "ready", "notready": "reinitializing", "disabled": "disabled"}
    initial = {"unset": None, "true": True, "false": False}
    wrong = []
    for cell in published.cells(watch["axes"], table, watch["outcomes"]):
        rv, send_initial, match, bookmarks, cache, progress, outcome = cell
        options = ListOptions(
            watch=True,
            resource_version=revisions[rv],
            resource_version_match=match,
            allow_watch_bookmarks=bool(bookmarks),
            send_initial_events=initial[send_initial],
        )
        state = published.state(readiness[cache], progress)
        wrong += _differences(cell[:-1], published.shown(decide_watch(options, state, behaviour)), outcome)
    assert not wrong, wrong[:5]


def of_version(by_minor: dict[str, Any], version: str) -> Any:
    """The cells of a minor; a minor that is not published yet is like the newest that is.

    What it does otherwise is in test_newest_minors.py.
    """
    if version in by_minor:
        return by_minor[version]
    newest = copy.deepcopy(by_minor[max(by_minor, key=lambda minor: int(minor[2:]))])
    if isinstance(newest, dict) and behaviour_of(version).minor >= 38:
        for outcome in newest.values():
            if "g.badrv" in outcome["reasons"]:
                outcome["error"] |= {"code": 400, "reason": "BadRequest"}
    return newest


def _differences(cell: tuple[Any, ...], got: dict[str, Any], wanted: dict[str, Any]) -> list[Any]:
    return [(cell, key, wanted[key], got[key]) for key in wanted if got[key] != wanted[key]]
