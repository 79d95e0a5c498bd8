"""ComponentStatuses: probed, not stored."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from ktui.apiserver.verbs import components
from ktui.wire.envelope import open_value
from tests.etcd.apiserver.conftest import TABLE, Api

pytestmark = pytest.mark.anyio

PATH = "/api/v1/componentstatuses"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.fixture(autouse=True)
def no_listeners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "PORTS", {"controller-manager": 1, "scheduler": 2})
    monkeypatch.setattr(components, "PROBE_SECONDS", 60.0)


async def test_etcd_is_healthy_and_no_other_component_listens(api: Api) -> None:
    answer = await api.get(PATH)
    listed = answer.json()
    assert (answer.status_code, listed["kind"]) == (200, "ComponentStatusList")
    assert "deprecated" in answer.headers["warning"]
    found = {item["metadata"]["name"]: item["conditions"][0] for item in listed["items"]}
    assert found["etcd-0"] == {"type": "Healthy", "status": "True", "message": "ok"}
    assert found["scheduler"]["status"] == "False"
    assert "127.0.0.1:2: connect: connection refused" in found["scheduler"]["message"]
    assert "kind" not in listed["items"][0]
    api.facts.problem = "etcd does not answer."
    sick = (await api.get(f"{PATH}/etcd-0")).json()
    assert sick["conditions"] == [{"type": "Healthy", "status": "False", "error": "etcd does not answer."}]


async def test_forms_and_refusals(api: Api) -> None:
    table = (await api.get(PATH, **TABLE)).json()
    assert [row["cells"][0] for row in table["rows"]] == ["controller-manager", "scheduler", "etcd-0"]
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Status", "Message", "Error"]
    assert table["rows"][2]["cells"] == ["etcd-0", "Healthy", "ok", ""]
    envelope = open_value((await api.get(PATH, Accept=PROTOBUF)).content)
    assert envelope.kind == "ComponentStatusList" and b"etcd-0" in envelope.body
    assert (await api.get(f"{PATH}/etcd-0", Accept="application/yaml")).text.startswith("apiVersion: v1")
    missing = await api.get(f"{PATH}/none")
    assert missing.json()["message"] == 'componentstatus "none" not found'
    watch = await api.get(f"{PATH}?watch=1")
    assert watch.status_code == 405 and "deprecated" in watch.headers["warning"]
    for query, code in (
        ("limit=x", 400),
        ("resourceVersionMatch=X", 422),
        ("watch=1&labelSelector=a%20b", 400),
    ):
        assert (await api.get(f"{PATH}?{query}")).status_code == code, query
    assert (await api.get(f"{PATH}/etcd-0/status")).status_code == 404
    table = await api.get(f"{PATH}/etcd-0", Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert table.json()["metadata"] == {}
    assert (await api.create(PATH, {})).status_code == 405


async def test_selectors(api: Api) -> None:
    async def listed(**query: str) -> list[str]:
        answer = await api.get(f"{PATH}?{urlencode(query)}")
        return [item["metadata"]["name"] for item in answer.json()["items"]]

    assert await listed(fieldSelector="metadata.name=etcd-0") == ["etcd-0"]
    assert await listed(fieldSelector="metadata.name!=etcd-0") == ["controller-manager", "scheduler"]
    assert await listed(labelSelector="a=b") == []
    refused = await api.get(f"{PATH}?fieldSelector=status%3Dok")
    assert (
        refused.status_code == 400 and '"status" is not a known field selector' in refused.json()["message"]
    )
