"""What the way through the internal type changes, by kind."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.hub_types import ROLLBACK_TO, counter_fault, through_hub

OLD = "pod.beta.kubernetes.io/init-container-statuses"


@pytest.mark.parametrize(
    ("kind", "sent", "kept"),
    [
        (
            "Pod",
            {"spec": {"serviceAccount": "a"}},
            {"spec": {"serviceAccount": "a", "serviceAccountName": "a"}},
        ),
        (
            "Pod",
            {"spec": {"serviceAccount": "a", "serviceAccountName": "b"}},
            {"spec": {"serviceAccount": "b", "serviceAccountName": "b"}},
        ),
        ("Pod", {"spec": {"serviceAccountName": ""}}, {"spec": {}}),
        (
            "Pod",
            {"spec": {"terminationGracePeriodSeconds": -5}},
            {"spec": {"terminationGracePeriodSeconds": 1}},
        ),
        (
            "Deployment",
            {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": -5}}}},
            {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": -5}}}},
        ),
        (
            "Pod",
            {"metadata": {"annotations": {OLD: "x", "a": "b"}}},
            {"metadata": {"annotations": {"a": "b"}}},
        ),
        (
            "CronJob",
            {"spec": {"jobTemplate": {"spec": {"template": {"metadata": {"annotations": {OLD: "x"}}}}}}},
            {"spec": {"jobTemplate": {"spec": {"template": {"metadata": {"annotations": {}}}}}}},
        ),
        (
            "Deployment",
            {"metadata": {"annotations": {OLD: "x", ROLLBACK_TO: "+07"}}},
            {"metadata": {"annotations": {OLD: "x", ROLLBACK_TO: "7"}}},
        ),
        ("Deployment", {"metadata": {"annotations": {ROLLBACK_TO: ""}}}, {"metadata": {"annotations": {}}}),
        ("ConfigMap", {"metadata": {"annotations": {OLD: "x"}}}, {"metadata": {"annotations": {OLD: "x"}}}),
    ],
)
def test_what_changes(kind: str, sent: dict[str, Any], kept: dict[str, Any]) -> None:
    obj = {"kind": kind, **sent}
    through_hub(obj)
    assert obj == {"kind": kind, **kept}


@pytest.mark.parametrize(
    ("kind", "value", "fault"),
    [
        ("DaemonSet", "x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("DaemonSet", "", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("DaemonSet", "7", ""),
        (
            "Deployment",
            "x",
            f"failed to parse annotation[{ROLLBACK_TO}]=x as int64: "
            'strconv.ParseInt: parsing "x": invalid syntax',
        ),
        ("Deployment", "", ""),
        ("ConfigMap", "x", ""),
    ],
)
def test_counters_that_are_no_numbers(kind: str, value: str, fault: str) -> None:
    names = "deprecated.daemonset.template.generation", ROLLBACK_TO
    name = names[kind == "Deployment"]
    assert counter_fault({"kind": kind, "metadata": {"annotations": {name: value}}}) == fault
    assert counter_fault({"kind": kind, "metadata": {}}) == ""
