"""The pages that tell what etcd holds and what changes there, as the dashboard asks them."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.core.stored import Survey
from tests.etcd.apiserver.conftest import TOKEN, Api

pytestmark = pytest.mark.anyio


async def test_a_survey_and_a_watch_of_changes(api: Api) -> None:
    client = ApiClient(ServerConnection(api.server.url, token=TOKEN))
    server, survey = KtuiApi(client), Survey()
    made = await api.config_map("large", note="x" * 60)
    survey.add("configmaps", await server.survey(None))
    assert survey.largest[0].key.endswith("/configmaps/a/large")
    assert survey.weights["configmaps"].keys == survey.keys == 2  # and its namespace
    async with aclosing(server.churn(None)) as reports:
        assert (await anext(reports)).keys == []
        await api.merge("/api/v1/namespaces/a/configmaps/large", {"data": {"k": "v"}})
        async for report in reports:
            if report.keys:
                break
    assert report.keys[0].key == survey.largest[0].key
    assert report.revision > int(made["metadata"]["resourceVersion"])
    await client.close()
