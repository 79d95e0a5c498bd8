"""Custom resources for tests."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.etcd.apiserver.conftest import Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def define(api: Api, definition: dict[str, Any]) -> None:
    """Create a CustomResourceDefinition and wait until its objects are served."""
    answer = await api.create(DEFINITIONS, definition)
    assert answer.status_code == 201, answer.text
    await counts(api, answer.json())


async def counts(api: Api, definition: dict[str, Any]) -> None:
    """Wait until a definition decides what is served, as it was written, from a full cache."""
    metadata = definition["metadata"]
    async with asyncio.timeout(60):
        await api.catalog.until(lambda catalog: catalog.rv >= int(metadata["resourceVersion"]))
    resource = api.catalog.by_id(metadata["name"])
    assert resource is not None
    assert await api.services.registry.for_resource(resource).ready()


async def gone(api: Api, plural: str) -> None:
    """Wait until a custom resource is served no more."""
    async with asyncio.timeout(60):
        await api.catalog.until(lambda catalog: catalog.by_id(plural) is None)
