"""LimitRanges and ResourceQuotas over a real server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

IN_A = "/api/v1/namespaces/a"


def pod(name: str, **requests: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    return {"metadata": {"name": name}, "spec": spec}


def limited(obj: dict[str, Any]) -> dict[str, Any]:
    """The pod with limits as high as its requests."""
    (container,) = obj["spec"]["containers"]
    container["resources"]["limits"] = container["resources"]["requests"]
    return obj


async def test_limits_and_quotas_of_a_namespace(api: Api) -> None:
    for plural in ("limitranges", "resourcequotas"):
        assert await api.cacher(plural).ready()
    limits = [{"type": "Container", "default": {"cpu": "200m"}, "max": {"cpu": "1"}}]
    made = await api.create(f"{IN_A}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": limits}})
    assert made.status_code == 201 and "warning" not in made.headers
    await api.seen(made.json(), "limitranges")
    small = (await api.create(f"{IN_A}/pods", pod("small"))).json()
    (container,) = small["spec"]["containers"]
    assert container["resources"] == {"limits": {"cpu": "200m"}, "requests": {"cpu": "200m"}}
    above = await api.create(f"{IN_A}/pods", pod("large", cpu="2"))  # the default limit is smaller
    assert above.status_code == 422 and "less than or equal to cpu limit of 200m" in above.text
    large = await api.create(f"{IN_A}/pods", limited(pod("large", cpu="2")))
    assert large.status_code == 403
    why = "maximum cpu usage per Container is 1, but limit is 2"
    assert large.json()["message"] == f'pods "large" is forbidden: {why}'

    hard = {"pods": "2", "requests.cpu": "300m", "count/configmaps": "1"}
    made = await api.create(f"{IN_A}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    assert "runs no quota controller" in made.headers["warning"]
    used = {"pods": "1", "requests.cpu": "200m"}
    status = {"status": {"hard": hard, "used": used}}
    kept = await api.merge(f"{IN_A}/resourcequotas/q/status", status)
    await api.seen(kept.json(), "resourcequotas")
    unknown = await api.create(f"{IN_A}/configmaps", {"metadata": {"name": "m"}})
    why = "status unknown for quota: q, resources: count/configmaps"
    assert unknown.json()["message"] == f'configmaps "m" is forbidden: {why}'
    more = await api.create(f"{IN_A}/pods", pod("more", cpu="100m"), dryRun="All")
    assert more.status_code == 201, more.text
    more = await api.create(f"{IN_A}/pods", pod("more", cpu="100m"))
    assert more.status_code == 201, more.text
    charged = (await api.get(f"{IN_A}/resourcequotas/q")).json()
    assert charged["status"]["used"] == {"pods": "2", "requests.cpu": "300m"}
    await api.seen(charged, "resourcequotas")
    third = await api.create(f"{IN_A}/pods", limited(pod("third", cpu="1")))
    assert third.json()["message"] == (
        'pods "third" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=1, '
        "used: pods=2,requests.cpu=300m, limited: pods=2,requests.cpu=300m"
    )


async def quota(api: Api, name: str, hard: dict[str, str], **spec: Any) -> None:
    """Create a quota of which nothing is used yet."""
    made = await api.create(
        f"{IN_A}/resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard, **spec}}
    )
    assert made.status_code == 201, made.text
    status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    kept = await api.merge(f"{IN_A}/resourcequotas/{name}/status", {"status": status})
    await api.seen(kept.json(), "resourcequotas")


async def used(api: Api, name: str) -> dict[str, str]:
    found: dict[str, str] = (await api.get(f"{IN_A}/resourcequotas/{name}")).json()["status"]["used"]
    return found


async def test_an_update_is_charged_with_what_it_grows_by(api: Api) -> None:
    assert await api.cacher("resourcequotas").ready()
    claim = {
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    for plural, obj in (
        ("persistentvolumeclaims", claim),
        ("services", service),
        ("pods", pod("p", cpu="1")),
    ):
        made = await api.create(f"{IN_A}/{plural}", obj)
        assert made.status_code == 201, made.text
    await quota(api, "q", {"services.nodeports": "1", "services.loadbalancers": "0", "pods": "5"})
    await quota(api, "ending", {"pods": "1"}, scopes=["Terminating"])

    node_port = await api.merge(f"{IN_A}/services/s", {"spec": {"type": "NodePort"}})
    assert node_port.status_code == 200, node_port.text
    balanced = await api.merge(f"{IN_A}/services/s", {"spec": {"type": "LoadBalancer"}})
    assert balanced.json()["message"] == (
        'services "s" is forbidden: exceeded quota: q, requested: services.loadbalancers=1, '
        "used: services.loadbalancers=0, limited: services.loadbalancers=0"
    )
    labelled = await api.merge(f"{IN_A}/services/s", {"metadata": {"labels": {"a": "b"}}})
    assert labelled.status_code == 200, labelled.text
    ended = await api.merge(f"{IN_A}/pods/p", {"spec": {"activeDeadlineSeconds": 60}})
    assert ended.status_code == 200, ended.text
    assert await used(api, "q") == {"services.nodeports": "1", "services.loadbalancers": "0", "pods": "0"}
    assert await used(api, "ending") == {"pods": "1"}, "a quota that did not count it before counts it whole"
    await api.seen((await api.get(f"{IN_A}/resourcequotas/ending")).json(), "resourcequotas")
    late = pod("late", cpu="1")
    late["spec"]["activeDeadlineSeconds"] = 60
    assert (await api.create(f"{IN_A}/pods", late)).status_code == 403
