"""A server that stops and starts again over its `--data-dir`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.etcd.serving import Served, serving

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

WIDGETS = Path(__file__).parents[1] / "apiserver" / "widgets.json"
PODS = "/api/v1/namespaces/default/pods"
OBJECTS = "/apis/example.io/v1/namespaces/default/widgets"


async def _fill(served: Served) -> None:
    definition = json.loads(WIDGETS.read_text())
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    widget = {
        "apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"color": "red"},
    }  # fmt: skip
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for path, obj in ((definitions, definition), (PODS, pod)):
        answer = await served.http.post(path, json=obj)
        assert answer.status_code == 201, answer.text
    await served.until("/apis/example.io/v1", lambda found: "widgets" in json.dumps(found))
    answer = await served.http.post(OBJECTS, json=widget)
    assert answer.status_code == 201, answer.text


async def test_clients_of_a_restarted_server_need_not_list_again(tmp_path: Path) -> None:
    words = ("--data-dir", str(tmp_path / "data"))
    async with serving(tmp_path, *words) as served:
        await _fill(served)
    async with serving(tmp_path, *words) as served:
        for path, name in ((OBJECTS, "w"), (PODS, "web")):
            answer = await served.http.get(path, params={"resourceVersion": "0"})
            assert answer.status_code == 200, answer.text
            assert [item["metadata"]["name"] for item in answer.json()["items"]] == [name]
