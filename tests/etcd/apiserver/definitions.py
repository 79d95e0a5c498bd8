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
    spec = definition["spec"]
    path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}?limit=1"
    async with asyncio.timeout(10):
        while (await api.get(path)).status_code != 200:
            await asyncio.sleep(0.01)
