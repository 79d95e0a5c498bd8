"""Helm's Go library as helm-sdkpy wraps it: 47 MB, Python 3.12 or later, so the `test` extra has it not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Cluster
from tests.lazily import Lazily

client, config = Lazily("kubernetes.client"), Lazily("kubernetes.config")

helm = pytest.importorskip("helm_sdkpy", reason="helm-sdkpy is not installed: pip install helm-sdkpy")
pytestmark = pytest.mark.etcd
CHART = str(Path(__file__).with_name("chart"))


def test_a_chart_with_definitions(cluster: Cluster, namespace: str) -> None:
    admin = config.new_client_from_config(cluster.admin)
    settings = helm.Configuration(namespace=namespace, kubeconfig=cluster.admin)

    def replicas() -> tuple[int, int]:
        custom, apps = client.CustomObjectsApi(admin), client.AppsV1Api(admin)
        gizmo = custom.get_namespaced_custom_object("charts.example.com", "v1", namespace, "gizmos", "web")
        return gizmo["spec"]["size"], apps.read_namespaced_deployment("web", namespace).spec.replicas

    async def releases() -> list[Any]:
        listed = await helm.List(settings).run(all=True)
        return [(found["name"], found["version"], found["info"]["status"]) for found in listed or ()]

    async def story() -> None:
        values = {"replicas": 2}
        install = helm.Install(settings).run("web", CHART, values=values, create_namespace=True, wait=False)
        assert (await install)["info"]["status"] == "deployed"
        assert replicas() == (2, 2)
        await helm.Upgrade(settings).run("web", CHART, values={"replicas": 3}, wait=False)
        assert replicas() == (3, 3)
        assert await releases() == [("web", 2, "deployed")]
        await helm.Uninstall(settings).run("web", wait=False)
        assert await releases() == []
        assert client.AppsV1Api(admin).list_namespaced_deployment(namespace).items == []

    asyncio.run(story())
