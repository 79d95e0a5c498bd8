"""Webhooks are not called: what those with failurePolicy Fail match is refused, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MAPS = "/api/v1/namespaces/a/configmaps"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}


async def hook(api: Api, **members: Any) -> None:
    """A configuration with one webhook, in force: its cache has it."""
    webhook = {
        "name": "a.b.c",
        "clientConfig": {"url": "https://127.0.0.1:1/x"},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **members,
    }
    made = await api.create(CONFIGURATIONS, {"metadata": {"name": "w"}, "webhooks": [webhook]})
    assert made.status_code == 201, made.text
    await api.seen(made.json(), "validatingwebhookconfigurations", "admissionregistration.k8s.io")


async def create(api: Api, **labels: str) -> int:
    answer = await api.create(MAPS, {"metadata": {"name": "m", "labels": labels}})
    if answer.status_code == 500:
        assert 'failed calling webhook "a.b.c"' in answer.json()["message"]
    return answer.status_code


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({}, 500),
        ({"failurePolicy": "Ignore"}, 201),
        ({"rules": [{**RULE, "operations": ["UPDATE"]}]}, 201),
        ({"rules": [{**RULE, "apiGroups": ["apps"]}]}, 201),
        ({"rules": [{**RULE, "apiVersions": ["v2"]}]}, 201),
        ({"rules": [{**RULE, "resources": ["configmaps/status"]}]}, 201),
        ({"rules": [{**RULE, "scope": "Cluster"}]}, 201),
        ({"rules": [{**RULE, "resources": ["*"], "apiGroups": ["*"], "scope": "Namespaced"}]}, 500),
        ({"objectSelector": {"matchLabels": {"app": "web"}}}, 500),
        ({"objectSelector": {"matchLabels": {"app": "db"}}}, 201),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "a"}}}, 500),
        ({"namespaceSelector": {"matchExpressions": [{"key": "none", "operator": "Exists"}]}}, 201),
    ],
)
async def test_what_a_webhook_matches(api: Api, members: dict[str, Any], status: int) -> None:
    await hook(api, **members)
    assert await create(api, app="web") == status


async def test_updates_and_deletions_are_matched_by_their_own_operations(api: Api) -> None:
    await api.config_map("one")
    await hook(api, rules=[{**RULE, "operations": ["UPDATE", "DELETE"]}])
    assert (await api.merge(f"{MAPS}/one", {"data": {"k": "x"}})).status_code == 500
    assert (await api.delete(f"{MAPS}/one")).status_code == 500
    assert await create(api) == 201


async def test_configurations_themselves_are_exempt(api: Api) -> None:
    rule = {**RULE, "apiGroups": ["*"], "resources": ["*"], "operations": ["*"]}
    await hook(api, rules=[rule])
    assert await create(api) == 500
    assert (await api.delete(f"{CONFIGURATIONS}/w")).status_code == 200
