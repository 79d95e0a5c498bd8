"""Columns and cells of Tables."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.tables.table import PRINTERS, TableRow, human_duration, table_columns, table_row_conditions
from tests.unit.kube.printed import printed_cells

NOW = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
BORN = (NOW - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _resource(name: str) -> Resource:
    found = BUILTIN.by_name(name)
    assert found is not None
    return found


def _cells(name: str, **members: Any) -> list[Any]:
    obj = {"metadata": {"name": "x", "creationTimestamp": BORN} | members.pop("metadata", {}), **members}
    return printed_cells(_resource(name), obj, NOW)


@pytest.mark.parametrize("resource", [r for r in BUILTIN if r.stored], ids=lambda r: r.id)
def test_each_kind_prints_an_empty_object_under_its_columns(resource: Resource) -> None:
    columns = table_columns(resource)
    cells = printed_cells(resource, {"metadata": {"name": "x", "creationTimestamp": BORN}}, NOW)
    # Upstream defines one column less for IPAddresses than it sends cells.
    assert len(cells) == len(columns) + (resource.resource == "ipaddresses")
    names = [column["name"] for column in columns]
    assert cells[names.index("Name")] == "x"
    if "Age" in names:
        assert cells[names.index("Age")] == "5m"


def test_every_printer_belongs_to_a_kind() -> None:
    assert set(PRINTERS) <= {r.id for r in BUILTIN}


def test_columns_name_their_type() -> None:
    name, data, age = table_columns(_resource("configmaps"))
    assert (name["name"], name["format"], name["type"], name["priority"]) == ("Name", "name", "string", 0)
    assert name["description"].startswith("Name must be unique within a namespace.")
    assert data["description"].startswith("Data contains the configuration data.")
    assert age["description"].startswith("CreationTimestamp is a timestamp")
    wide = [c["name"] for c in table_columns(_resource("pods")) if c["priority"]]
    assert wide == ["IP", "Node", "Nominated Node", "Readiness Gates"]


def test_kinds_without_a_printer_show_when_they_were_created() -> None:
    assert [c["name"] for c in table_columns(_resource("roles"))] == ["Name", "Created At"]
    assert table_columns(_resource("roles"))[1]["type"] == "date"
    assert _cells("roles") == ["x", BORN]
    assert [c["name"] for c in table_columns(_resource("podgroups"))] == ["Name", "Created At"]


@pytest.mark.parametrize(
    ("spec", "status", "external", "ports"),
    [
        ({"type": "ClusterIP"}, {}, "<none>", "<none>"),
        ({"type": "NodePort", "externalIPs": ["1.1.1.1", "2.2.2.2"],
          "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]},
         {}, "1.1.1.1,2.2.2.2", "80:30080/TCP,53/UDP"),
        ({"type": "LoadBalancer"}, {}, "<pending>", "<none>"),
        ({"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]},
         {"loadBalancer": {"ingress": [{"hostname": "b"}, {"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]}},
         "10.0.0.1,b,9.9.9.9", "<none>"),
        ({"type": "ExternalName", "externalName": "example.com"}, {}, "example.com", "<none>"),
    ],
)  # fmt: skip
def test_services(spec: dict[str, Any], status: dict[str, Any], external: str, ports: str) -> None:
    cells = _cells("services", spec=spec | {"clusterIPs": ["10.0.0.9"]}, status=status)
    assert cells == ["x", spec["type"], "10.0.0.9", external, ports, "5m", "<none>"]


def test_nodes() -> None:
    labels = {
        "node-role.kubernetes.io/worker": "",
        "node-role.kubernetes.io/gpu": "",
        "kubernetes.io/role": "old",
    }
    status = {
        "conditions": [{"type": "Ready", "status": "False"}],
        "addresses": [{"type": "InternalIP", "address": "10.1.1.1"}],
        "nodeInfo": {"kubeletVersion": "v1.36.0", "kernelVersion": "6.1", "architecture": "arm64"},
    }
    cells = _cells("nodes", metadata={"labels": labels}, spec={"unschedulable": True}, status=status)
    assert cells[1:] == [
        "NotReady,SchedulingDisabled",
        "gpu,old,worker",
        "5m",
        "v1.36.0",
        "10.1.1.1",
        "<none>",
        "<unknown>",
        "6.1 (arm64)",
        "<unknown>",
    ]


def test_endpoints_show_three() -> None:
    addresses = [{"ip": f"10.0.0.{i}"} for i in range(1, 5)] + [{"ip": "::1"}]
    subset = {"addresses": addresses, "ports": [{"port": 80}]}
    assert _cells("endpoints", subsets=[subset])[1] == "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more..."
    assert (
        _cells("endpoints", subsets=[{"addresses": addresses[-1:], "ports": [{"port": 80}]}])[1] == "[::1]:80"
    )
    assert _cells("endpoints", subsets=[{"addresses": addresses[:1]}])[1] == "10.0.0.1"
    assert _cells("endpoints")[1] == "<none>"


def test_selectors_of_workloads() -> None:
    selector = {
        "matchLabels": {"b": "2"},
        "matchExpressions": [
            {"key": "a", "operator": "NotIn", "values": ["z", "y"]},
            {"key": "c", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"},
        ],
    }
    assert _cells("replicasets", spec={"selector": selector})[-1] == "a notin (y,z),b=2,c,!d"


@pytest.mark.parametrize(
    ("conditions", "deleting", "status"),
    [
        ([], False, "Running"),
        (["Complete"], True, "Complete"),
        ([], True, "Terminating"),
        (["Suspended"], False, "Suspended"),
        (["SuccessCriteriaMet", "Failed"], False, "Failed"),
    ],
)
def test_job_status(conditions: list[str], deleting: bool, status: str) -> None:
    metadata = {"deletionTimestamp": BORN} if deleting else {}
    found = [{"type": kind, "status": "True"} for kind in conditions]
    assert _cells("jobs", metadata=metadata, status={"conditions": found})[1] == status


@pytest.mark.parametrize(
    ("spec", "completions"),
    [({"completions": 5}, "2/5"), ({"parallelism": 3}, "2/1 of 3"), ({"parallelism": 1}, "2/1")],
)
def test_job_completions(spec: dict[str, Any], completions: str) -> None:
    assert _cells("jobs", spec=spec, status={"succeeded": 2})[2] == completions


def test_both_events_groups_print_alike() -> None:
    core = {
        "involvedObject": {"kind": "Pod", "name": "p"},
        "source": {"component": "kubelet", "host": "n1"},
        "lastTimestamp": BORN,
        "message": " hi \n",
        "type": "Normal",
        "reason": "Started",
        "count": 3,
    }
    new = {
        "regarding": {"kind": "Pod", "name": "p"},
        "reportingController": "kubelet",
        "reportingInstance": "n1",
        "deprecatedLastTimestamp": BORN,
        "note": " hi \n",
        "type": "Normal",
        "reason": "Started",
        "deprecatedCount": 3,
    }
    cells = ["5m", "Normal", "Started", "pod/p", "", "kubelet, n1", "hi", "<unknown>", 3, "x"]
    assert _cells("events", **core) == cells
    assert _cells("events.events.k8s.io", **new) == cells


def test_default_classes_are_marked() -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    assert _cells("storageclasses", metadata={"annotations": annotations})[0] == "x (default)"
    assert _cells("ingressclasses", metadata={"annotations": annotations})[0] == "x"


def test_autoscaler_targets() -> None:
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}}
    load = {"type": "External", "external": {"target": {"averageValue": "30"}}}
    pods = {"type": "Pods", "pods": {"target": {"averageValue": "1k"}}}
    current = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 12}}}
    cells = _cells(
        "hpa", spec={"metrics": [cpu, load, pods], "minReplicas": 0}, status={"currentMetrics": [current]}
    )
    assert cells[2:4] == ["cpu: 12%/50%, <unknown>/30 (avg) + 1 more...", "0"]


@pytest.mark.parametrize(("phase", "reported"), [("Succeeded", True), ("Failed", True), ("Running", False)])
def test_ended_pods_say_so(phase: str, reported: bool) -> None:
    conditions = table_row_conditions(_resource("pods"), {"status": {"phase": phase}})
    assert [c["reason"] for c in conditions] == ([phase] if reported else [])
    assert table_row_conditions(_resource("namespaces"), {"status": {"phase": phase}}) == []


def _custom(*columns: dict[str, Any]) -> Resource:
    version = {"name": "v1", "served": True, "storage": True, "additionalPrinterColumns": list(columns)}
    names = {"plural": "widgets", "kind": "Widget"}
    (resource,) = resources_of({"spec": {"group": "e.io", "names": names, "versions": [version]}})
    return resource


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("string", "red", "red"),
        ("string", 3, "3"),
        ("string", True, "true"),
        ("string", 2.0, "2"),
        ("string", {"b": [1], "a": "é"}, '{"a":"é","b":[1]}'),
        ("integer", 3, 3),
        ("integer", 3.7, 3),
        ("integer", "3", None),
        ("number", 3.7, 3.7),
        ("boolean", True, True),
        ("boolean", "true", None),
        ("date", BORN, "5m"),
        ("date", "soon", "<invalid>"),
        ("date", 5, None),
        ("string", None, None),
    ],
)
def test_custom_cells(kind: str, value: object, cell: object) -> None:
    resource = _custom({"name": "Value", "type": kind, "jsonPath": ".spec.value"})
    assert printed_cells(resource, {"metadata": {"name": "w"}, "spec": {"value": value}}, NOW) == [
        "w",
        cell,
    ]


def test_custom_columns_are_described() -> None:
    name, size, told = table_columns(
        _custom(
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1},
            {"name": "Name", "type": "string", "jsonPath": ".spec.name", "description": "its name"},
        )
    )
    assert name["format"] == "name"
    assert size["description"] == "Custom resource definition column (in JSONPath format): .spec.size"
    assert size["priority"] == 1
    assert (told["format"], told["description"]) == ("", "its name")
    (_, age) = table_columns(_custom())
    assert (age["name"], age["type"]) == ("Age", "date")
    assert age["description"].startswith("CreationTimestamp is a timestamp")


@given(since=st.integers(-(10**9), 2 * 10**9), ages=st.lists(st.floats(-10, 4e8), min_size=2, max_size=6))
def test_a_row_s_ages_are_those_of_any_time(since: int, ages: list[float]) -> None:
    row = TableRow((b"a ", float(since), b" ago"))
    for seconds in [each + more for each in ages for more in (0, 0.5, 30, 3_000)] + ages:
        now = since + seconds
        assert json.loads(b'"%b"' % row.at(now)) == f"a {human_duration(int(now - since))} ago"


def test_the_age_of_a_row_changes_when_its_text_does() -> None:
    row = TableRow((0.0,))
    assert all(row.at(float(now)) == human_duration(now).encode() for now in range(900_000))
