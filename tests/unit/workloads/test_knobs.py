"""Knobs: bounded, typed, with neighbours; and the tag that a request carries."""

from __future__ import annotations

import pytest

from ktui.cli.workload import variants_of
from ktui.workloads.registry import WORKLOADS
from ktui.workloads.running.knobs import Knob, Knobs, WorkloadError, assign
from ktui.workloads.running.users import Tag, tag_of
from ktui.workloads.running.workload import Workload

AGENTS = Knob("agents", 50, "how many", least=1, most=100)
PACE = Knob("pace", 1.0, "how fast", least=0.5, most=10, unit="s")
FORM = Knob("form", "json", "which", ("json", "table"))
LIVE = Knob("live", False, "whether")


@pytest.mark.parametrize(
    ("knob", "text", "value"),
    [(AGENTS, "1,00", 100), (PACE, "2.5s", 2.5), (FORM, "table", "table"), (LIVE, "on", True)],
)
def test_values(knob: Knob, text: str, value: object) -> None:
    assert knob.parse(text) == value


@pytest.mark.parametrize(
    ("knob", "text", "said"),
    [
        (AGENTS, "0", "from 1 to 100"),
        (AGENTS, "1.5", "not a number"),
        (PACE, "nan", "from 0.5"),
        (FORM, "yaml", "choose one of json, table"),
        (LIVE, "maybe", "write yes or no"),
    ],
)
def test_what_is_wrong_is_named(knob: Knob, text: str, said: str) -> None:
    with pytest.raises(WorkloadError, match=said):
        knob.parse(text)


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_neighbours_and_fixes_are_values_of_the_knob(workload: object) -> None:
    assert hasattr(workload, "knobs") and hasattr(workload, "fixes")
    for knob in workload.knobs:
        value = knob.default
        for step in (1, 1, -1, -1, -1):
            value = knob.next(value, step)
            assert type(value) is type(knob.default)
            if not isinstance(value, str | bool):
                assert knob.least <= value <= knob.most
    for fix in workload.fixes:
        assign(Knobs(workload.knobs), fix.settings)


def test_a_change_is_reported() -> None:
    seen = []
    knobs = Knobs((AGENTS,), changed=lambda: seen.append("changed"))
    knobs.set("agents", "7")
    assert (knobs.integer("agents"), seen) == (7, ["changed"])


def test_two_sides_of_a_comparison() -> None:
    workload = WORKLOADS["agent-boot"]
    sides = variants_of(workload, ["rv=0", "rv=unset", "agents=3"], [])
    assert [(side.text("rv"), side.integer("agents")) for side in sides] == [("0", 3), ("unset", 3)]
    with pytest.raises(WorkloadError, match="given twice"):
        variants_of(workload, ["rv=0", "rv=unset", "rv=plan"], [])


def test_a_tag_survives_the_user_agent_and_foreign_ones_are_not_read() -> None:
    tag = Tag("agent-boot", "7f3a21", "A", "boot", "2 pods")
    assert tag_of(tag.user_agent("cilium-agent/1.18"), "7f3a21") == tag
    assert tag_of(tag.user_agent("cilium-agent/1.18"), "000000") is None
    assert tag_of("kubectl/v1.36 (linux/amd64) kubernetes/abc", "7f3a21") is None
    odd = tag._replace(label="a; b (c)\r\nX-Evil: 1")
    found = tag_of(odd.user_agent("agent"), "7f3a21")
    assert found is not None and found.label == "a_ b _c___X-Evil: 1"


def test_a_knob_is_known_by_its_former_name() -> None:
    knobs = Knobs((Knob("restart_after", 10.0, "until it restarts", unit="s", former="again"), AGENTS))
    assign(knobs, ["again=5s"])
    assert knobs.number("restart_after") == 5.0 and "again" not in knobs.values()
    assert knobs.find("again").shown(5.0) == "5 s"


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_names_of_knobs_are_given_once_and_numbers_have_units(workload: Workload) -> None:
    names = [name for knob in workload.knobs for name in (knob.name, knob.former) if name]
    assert len(set(names)) == len(names)
    for knob in workload.knobs:
        if "second" in knob.about or "percent" in knob.about:
            assert knob.unit or isinstance(knob.default, str), knob.name


def test_two_sides_may_name_a_knob_by_both_names() -> None:
    sides = variants_of(WORKLOADS["helm"], ["every=1", "interval=2"], [])
    assert [side.number("interval") for side in sides] == [1.0, 2.0]
