"""Custom resources are read as their schema has it now, whenever they were written."""

from __future__ import annotations

import copy
import json
from typing import Any

import httpx
import pytest

from tests.etcd.apiserver.conftest import TABLE, Api
from tests.etcd.apiserver.definitions import DEFINITIONS, counts, define
from tests.etcd.apiserver.test_watches import watching

pytestmark = pytest.mark.anyio

COLLECTION = "/apis/example.io/v1/namespaces/a/widgets"


def widget(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


async def redefine(api: Api, definition: dict[str, Any]) -> None:
    """Take another schema, and wait until it counts."""
    patch = {"spec": {"versions": definition["spec"]["versions"]}}
    answer = await api.merge(f"{DEFINITIONS}/widgets.example.io", patch)
    assert answer.status_code == 200, answer.text
    await counts(api, answer.json())


async def test_new_schemas_hold_for_old_objects(api: Api, widgets: dict[str, Any]) -> None:
    await define(api, widgets)
    created = await api.create(COLLECTION, widget("w", color="red"))
    assert created.json()["spec"] == {"color": "red", "shape": "round"}
    changed = copy.deepcopy(widgets)
    version = changed["spec"]["versions"][0]
    version["additionalPrinterColumns"].append({"name": "Size", "type": "integer", "jsonPath": ".spec.size"})
    properties = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    del properties["shape"]
    properties["size"] = {"type": "integer", "default": 3}
    await redefine(api, changed)
    shown = (await api.get(f"{COLLECTION}?limit=1", **TABLE)).json()
    columns = [column["name"] for column in version["additionalPrinterColumns"]]
    assert [column["name"] for column in shown["columnDefinitions"]][1:] == columns

    wanted = {"color": "red", "size": 3}
    for query in ("", "?resourceVersion=0"):
        assert (await api.get(f"{COLLECTION}/w{query}")).json()["spec"] == wanted
    listed = (await api.get(f"{COLLECTION}?limit=500")).json()["items"]
    assert [item["spec"] for item in listed] == [wanted]
    async with watching(api, "resourceVersion=0", path=COLLECTION) as events:
        assert (await events.next())["object"]["spec"] == wanted
    patched = await api.merge(f"{COLLECTION}/w", {"spec": {"color": "blue"}})
    assert patched.json()["spec"] == {"color": "blue", "size": 3}


async def test_a_deprecated_version_warns(api: Api, widgets: dict[str, Any]) -> None:
    widgets["spec"]["versions"][0] |= {"deprecated": True, "deprecationWarning": 'say "gadget"'}
    await define(api, widgets)
    answer = await api.get(f"{COLLECTION}?limit=1")
    assert answer.headers["warning"] == '299 - "say \\"gadget\\""'


@pytest.mark.parametrize("validation", ["Warn", "Strict", "Ignore"])
async def test_unknown_fields(api: Api, widgets: dict[str, Any], validation: str) -> None:
    await define(api, widgets)
    body = widget("w", color="red", typo=1) | {"other": {"a": 1}}
    answer = await api.create(COLLECTION, body, fieldValidation=validation)
    if validation == "Strict":
        assert answer.status_code == 400
        assert 'unknown field "spec.typo"' in answer.json()["message"]
        return
    assert answer.json()["spec"] == {"color": "red", "shape": "round"}
    assert "other" not in answer.json()
    warnings = answer.headers.get_list("warning")
    told = ['299 - "unknown field \\"spec.typo\\""', '299 - "unknown field \\"other\\""']
    assert sorted(", ".join(warnings).split(", ")) == (sorted(told) if validation == "Warn" else [""])


async def apply(api: Api, manager: str, color: str, **query: str) -> httpx.Response:
    body = widget("w", color="red") | {"list": [{"name": color, "value": manager}]}
    headers = {"Content-Type": "application/apply-patch+yaml"}
    params = {"fieldManager": manager, **query}
    return await api.http.patch(f"{COLLECTION}/w", content=json.dumps(body), headers=headers, params=params)


async def test_two_appliers_share_a_keyed_list(api: Api, widgets: dict[str, Any]) -> None:
    text = {"type": "string"}
    widgets["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["list"] = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": {"name": text, "value": text}},
    }
    await define(api, widgets)
    assert (await apply(api, "one", "red")).status_code == 201
    both = (await apply(api, "two", "blue")).json()
    assert [item["name"] for item in both["list"]] == ["red", "blue"]
    owned = {entry["manager"]: entry["fieldsV1"]["f:list"] for entry in both["metadata"]["managedFields"]}
    item = {".": {}, "f:name": {}, "f:value": {}}
    assert owned == {"one": {'k:{"name":"red"}': item}, "two": {'k:{"name":"blue"}': item}}
    refused = await apply(api, "two", "red")
    assert (refused.status_code, refused.json()["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "one": .list[name="red"].value',
    )
    forced = (await apply(api, "two", "red", force="true")).json()
    assert forced["list"] == [{"name": "red", "value": "two"}]


async def test_what_a_patch_may_not_make_of_it(api: Api, widgets: dict[str, Any]) -> None:
    await define(api, widgets)
    created = (await api.create(COLLECTION, widget("w", color="red"))).json()
    answer = await api.merge(f"{COLLECTION}/w", {"kind": "Gadget"})
    assert (answer.status_code, answer.json()["message"]) == (
        422,
        'Gadget.example.io "w" is invalid: kind: Invalid value: "Gadget": must be Widget',
    )
    answer = await api.merge(f"{COLLECTION}/w", {"metadata": {"odd": 1}})
    assert answer.headers["warning"] == '299 - "unknown field \\"metadata.odd\\""'
    assert (await api.get(f"{COLLECTION}/w")).json() == created
