"""Clients of a run have upstream's users, and so different priority levels."""

from __future__ import annotations

import pytest

from ktui.kube.flow_schemas import RequestAttributes, classify
from ktui.kube.users import requester_of
from ktui.workloads.running.users import LoadUser, user_of


@pytest.mark.parametrize(
    ("agent", "level"),
    [
        ("cilium-agent", "workload-high"),
        ("kube-controller-manager/v1.36.2", "workload-high"),
        ("kube-scheduler/v1.36.2 scheduler", "workload-high"),
        ("kubelet/v1.28.0", "system"),
        ("kubectl/v1.36.2", "global-default"),
        ("Helm/4.0.1", "workload-low"),
        ("my-agent", "workload-low"),
    ],
)
def test_the_level_of_an_agent(agent: str, level: str) -> None:
    user = user_of(agent)
    requester = requester_of(user.name, [user.group] if user.group else [])
    assert classify(requester, RequestAttributes("list", resource="pods"), 36).level.name == level


def test_headers_of_impersonation() -> None:
    assert LoadUser("jane").headers() == {"Impersonate-User": "jane"}
    assert LoadUser("system:node:a", "system:nodes").headers() == {
        "Impersonate-User": "system:node:a",
        "Impersonate-Group": "system:nodes",
    }
    assert LoadUser().headers() == {}
