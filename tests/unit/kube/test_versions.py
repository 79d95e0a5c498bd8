"""Minors, feature gates and what may be set."""

import re
from pathlib import Path

import pytest

import ktui
from ktui.kube.gates import (
    GATES,
    NEWEST_MINOR,
    OLDEST_MINOR,
    OTHER_GATES,
    READ_GATES,
    SHARDED,
    GateStage,
    default_of,
    phase_of,
)
from ktui.kube.versions import (
    KNOWN_VERSIONS,
    BehaviourError,
    behaviour_of,
    parse_gates,
)


def test_every_minor_has_a_behaviour() -> None:
    assert KNOWN_VERSIONS[0] == "1.19" and KNOWN_VERSIONS[-1] == f"1.{NEWEST_MINOR}"
    assert len(KNOWN_VERSIONS) == NEWEST_MINOR - OLDEST_MINOR + 1
    for version in KNOWN_VERSIONS:
        assert behaviour_of(version).version == version


@pytest.mark.parametrize(
    ("gate", "on"),
    [
        ("ConsistentListFromCache", range(31, NEWEST_MINOR + 1)),
        ("ResilientWatchCacheInitialization", range(31, NEWEST_MINOR + 1)),
        ("ListFromCacheSnapshot", range(34, NEWEST_MINOR + 1)),
        ("WatchList", [32, *range(34, NEWEST_MINOR + 1)]),
        ("SizeBasedListCostEstimate", range(34, NEWEST_MINOR + 1)),
        ("APIPriorityAndFairness", range(20, NEWEST_MINOR + 1)),
        ("WatchFromStorageWithoutResourceVersion", []),
        ("ConsistentListFromCacheSkipTimeoutFallback", []),
    ],
)
def test_defaults(gate: str, on: object) -> None:
    minors = [minor for minor in range(19, NEWEST_MINOR + 1) if behaviour_of(f"1.{minor}").enabled(gate)]
    assert minors == list(on)  # type: ignore[call-overload]


@pytest.mark.parametrize("text", ["1.36.2", "v1.36.2", "1.36.2-rc.1", "1.36.2+build"])
def test_a_patch_release_is_understood(text: str) -> None:
    behaviour = behaviour_of(text)
    assert (behaviour.minor, behaviour.patch, behaviour.version) == (36, 2, "1.36.2")


@pytest.mark.parametrize("text", ["1.18", f"1.{NEWEST_MINOR + 1}", "2.0", "", "all", "1.x", "1.36.", "136"])
def test_other_versions_are_refused(text: str) -> None:
    with pytest.raises(BehaviourError, match=r"choose one of 1\.19 to 1\.\d+"):
        behaviour_of(text)


def test_read_gates_are_those_that_are_asked_for() -> None:
    text = "".join(path.read_text("utf-8") for path in Path(ktui.__file__).parent.rglob("*.py"))
    asked = {name or SHARDED for name in re.findall(r'\.enabled\(\s*(?:"(\w+)"|SHARDED)\s*\)', text)}
    assert asked == {*READ_GATES, *OTHER_GATES}
    assert asked <= set(GATES)


def test_gates_can_be_set() -> None:
    behaviour = behaviour_of("1.36", {"ListFromCacheSnapshot": False})
    assert not behaviour.enabled("ListFromCacheSnapshot")
    assert behaviour.changed_gates == {"ListFromCacheSnapshot": False}


def test_a_locked_gate_takes_only_its_default() -> None:
    assert behaviour_of("1.34", {"ConsistentListFromCache": True}).changed_gates == {}
    with pytest.raises(BehaviourError, match=r"locked to true since Kubernetes 1\.34"):
        behaviour_of("1.35", {"ConsistentListFromCache": False})


@pytest.mark.parametrize(
    ("version", "gate", "text"),
    [
        ("1.36", "WatchLst", "did you mean WatchList"),
        ("1.30", "ListFromCacheSnapshot", r"it came with 1\.33"),
        ("1.37", "ConsistentListFromCache", r"removed in 1\.37 and is true for good"),
    ],
)
def test_unknown_gates_are_refused(version: str, gate: str, text: str) -> None:
    with pytest.raises(BehaviourError, match=text):
        behaviour_of(version, {gate: True})


def test_a_removed_gate_keeps_its_behaviour() -> None:
    assert behaviour_of("1.37").enabled("ConsistentListFromCache")
    assert behaviour_of("1.37").enabled("WatchBookmark")


def test_flag_text() -> None:
    assert parse_gates("A=true, B=False,") == {"A": True, "B": False}
    assert parse_gates("") == {}
    for text in ("A", "A=yes", "A="):
        with pytest.raises(BehaviourError, match="is not of the form"):
            parse_gates(text)


def test_histories_are_in_order() -> None:
    for gate, phases in GATES.items():
        minors = [phase.minor for phase in phases]
        assert minors == sorted(set(minors)), gate
        assert all(OLDEST_MINOR <= minor <= NEWEST_MINOR for minor in minors), gate
        gone = [phase for phase in phases if phase.stage is GateStage.GONE]
        assert gone in ([], [phases[-1]]), gate
        before = phase_of(gate, phases[0].minor - 1)
        assert before is None and not default_of(gate, phases[0].minor - 1)
