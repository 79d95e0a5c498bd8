"""The composed LIST: paths, targets, race forms, command lines."""

import shlex
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.tui.model.lab import ListForm, as_curl, as_kubectl, find_target, path_of, race_forms


@dataclass(frozen=True)
class Kind:
    """The part of a Resource that a path needs."""

    resource: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    short_names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @property
    def singular(self) -> str:
        return self.kind.lower()


PODS = Kind("pods", "Pod", short_names=("po",))
NODES = Kind("nodes", "Node", namespaced=False)
LEASES = Kind("leases", "Lease", "coordination.k8s.io")
METRICS = Kind("pods", "PodMetrics", "metrics.k8s.io", "v1beta1")
EVERY = [METRICS, PODS, NODES, LEASES]


@pytest.mark.parametrize(
    ("target", "form", "path"),
    [
        (PODS, ListForm(), "/api/v1/pods"),
        (PODS, ListForm(namespace="team-00"), "/api/v1/namespaces/team-00/pods"),
        (NODES, ListForm(namespace="ignored"), "/api/v1/nodes"),
        (LEASES, ListForm(limit="500"), "/apis/coordination.k8s.io/v1/leases?limit=500"),
        (
            PODS,
            ListForm(label_selector="app in (a,b),tier!=db", resource_version="0"),
            "/api/v1/pods?labelSelector=app%20in%20(a,b),tier!=db&resourceVersion=0",
        ),
        (PODS, ListForm(namespace="../x"), "/api/v1/namespaces/..%2Fx/pods"),
    ],
)
def test_the_path_of_a_form(target: Kind, form: ListForm, path: str) -> None:
    assert path_of(form, target) == path


@given(st.text(min_size=1), st.text(min_size=1))
def test_whatever_is_typed_arrives_as_typed(labels: str, fields: str) -> None:
    try:
        f"{labels}{fields}".encode()
    except UnicodeEncodeError:
        return
    path = path_of(ListForm(label_selector=labels, field_selector=fields, limit="1"), PODS)
    assert parse_qsl(urlsplit(path).query, keep_blank_values=True) == [
        ("labelSelector", labels),
        ("fieldSelector", fields),
        ("limit", "1"),
    ]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("po", PODS),
        ("Pod", PODS),
        ("pods.metrics.k8s.io", METRICS),
        (" leases ", LEASES),
        ("lease", LEASES),
        ("leases.coordination.k8s.io", LEASES),
        ("pod", PODS),
        ("nothing", None),
        ("", None),
    ],
)
def test_resources_are_found_by_any_name_that_kubectl_takes(name: str, target: Kind | None) -> None:
    assert find_target(name, EVERY[1:] + EVERY[:1]) is target


def test_a_race_asks_one_question_in_six_ways() -> None:
    form = ListForm(label_selector="app=web", limit="100", resource_version="5", continue_token="abc")
    labels = {race.label: path_of(race.form, PODS) for race in race_forms(form, 77)}
    base = "/api/v1/pods?labelSelector=app=web"
    assert labels == {
        "unset": base,
        "rv=0": f"{base}&resourceVersion=0",
        "pages of 100": f"{base}&limit=100",
        "NotOlderThan": f"{base}&resourceVersion=77&resourceVersionMatch=NotOlderThan",
        "Exact": f"{base}&resourceVersion=77&resourceVersionMatch=Exact",
        "no selector": "/api/v1/pods",
    }
    assert [race.label for race in race_forms(form, 77) if race.all_pages] == ["pages of 100"]


def test_without_a_selector_the_race_leaves_out_spec_and_status() -> None:
    assert race_forms(ListForm(), 1)[-1].form == replace(ListForm(), accept="metadata")
    assert race_forms(ListForm(accept="metadata"), 1)[-1].form.accept == "json"


def test_command_lines_keep_the_shell_out_of_it() -> None:
    path = path_of(ListForm(label_selector="a=$(reboot)"), PODS)
    assert shlex.split(as_kubectl(path)) == ["kubectl", "get", "--raw", path]
    curl = as_curl(path, ListForm(accept="table"))
    words = shlex.split(curl)
    assert words[-1] == f"$SERVER{path}"
    assert "Accept: application/json;as=Table;v=v1;g=meta.k8s.io" in words
