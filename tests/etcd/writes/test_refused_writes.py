"""Writes that a real kube-apiserver 1.36 refused, and its words; the order of its checks."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.etcd.apiserver.conftest import JSON, MERGE, Api
from tests.etcd.apiserver.definitions import define

pytestmark = pytest.mark.anyio

COLLECTION = "/apis/example.io/v1/namespaces/a/widgets"
ONE = f"{COLLECTION}/w"
UID = "11111111-2222-3333-4444-555555555555"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
MODIFIED = (
    'Operation cannot be fulfilled on widgets.example.io "w": the object has been modified; please apply '
    "your changes to the latest version and try again"
)
NAMELESS = "the name of the object (w based on URL) was undeterminable: name must be provided"
NO_VERSION = (
    'widgets.example.io "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an '
    "update"
)


def widget(name: str = "w", spec: Any = None, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": {"name": name, **metadata},
        "spec": spec or {"color": "red"},
    }


@pytest.fixture(autouse=True)
async def one(api: Api, widgets: dict[str, Any]) -> dict[str, Any]:
    await define(api, widgets)
    created: dict[str, Any] = (await api.create(COLLECTION, widget())).json()
    return created


async def send(api: Api, method: str, path: str, body: Any, headers: dict[str, str]) -> httpx.Response:
    content = body if isinstance(body, str) else json.dumps(body)
    return await api.http.request(method, path, content=content, headers=headers)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (widget(), 422, NO_VERSION),
        (widget(resourceVersion="0"), 422, NO_VERSION),
        (widget(resourceVersion="1"), 409, MODIFIED),
        (widget(resourceVersion="1", spec={"color": "pink"}), 409, MODIFIED),
        (widget("other"), 400, "the name of the object (other) does not match the name on the URL (w)"),
        (widget(""), 400, NAMELESS),
        (
            widget(namespace="b"),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            {**widget(), "apiVersion": "v1"},
            400,
            "the API version in the data (v1) does not match the expected API version (example.io/v1)",
        ),
        (
            widget(generation="x"),
            400,
            'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal string into Go '
            "struct field ObjectMeta.generation of type int64",
        ),
        (
            {**widget(), "metadata": "x"},
            400,
            'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal string into Go '
            "value of type v1.ObjectMeta",
        ),
        (
            "null",
            400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
            "'null' (6e756c6c)",
        ),
    ],
)
async def test_updates(api: Api, body: Any, code: int, message: str) -> None:
    answer = await send(api, "PUT", ONE, body, JSON)
    assert (answer.status_code, answer.json()["message"]) == (code, message)


async def test_a_uid_is_a_precondition_of_storage(api: Api, prefix: str, one: dict[str, Any]) -> None:
    answer = await send(api, "PUT", ONE, widget(uid=UID, resourceVersion="1"), JSON)
    assert answer.status_code == 409
    assert answer.json()["message"] == (
        'Operation cannot be fulfilled on widgets.example.io "w": StorageError: invalid object, Code: 4, '
        f"Key: {prefix}/example.io/widgets/a/w, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {UID}, UID in object meta: {one['metadata']['uid']}"
    )


@pytest.mark.parametrize(
    ("patch", "headers", "code", "message"),
    [
        ({"metadata": {"name": None}}, MERGE, 400, NAMELESS),
        ({"metadata": {"resourceVersion": None}}, MERGE, 422, NO_VERSION),
        ("null", MERGE, 400, "Invalid JSON Patch"),
        (
            {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}},
            MERGE,
            422,
            'Widget.example.io "w" is invalid: metadata.deletionTimestamp: Invalid value: '
            '"2020-01-01T00:00:00Z": field is immutable',
        ),
        (
            {"kind": "Gadget", "apiVersion": "v1"},
            MERGE,
            422,
            'Gadget "w" is invalid: [kind: Invalid value: "Gadget": must be Widget, apiVersion: Invalid '
            'value: "v1": must be example.io/v1]',
        ),
        (
            [5],
            JSON_PATCH,
            400,
            "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (
            [{"op": 5}],
            JSON_PATCH,
            400,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type "
            "string",
        ),
        (
            [{"op": "test", "path": "/kind", "value": "Widget"}] * 10_001,
            JSON_PATCH,
            413,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
        ),
        (
            {"kind": "Widget", "metadata": {"name": "w"}},
            APPLY,
            400,
            "invalid object type: /, Kind=Widget",
        ),
        (
            "a: [",
            APPLY,
            400,
            "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node "
            "content",
        ),
    ],
)
async def test_patches(api: Api, patch: Any, headers: dict[str, str], code: int, message: str) -> None:
    answer = await send(api, "PATCH", f"{ONE}?fieldManager=m", patch, headers)
    assert (answer.status_code, answer.json()["message"]) == (code, message)


async def test_a_missing_object_is_told_before_a_broken_patch(api: Api) -> None:
    answer = await send(api, "PATCH", f"{COLLECTION}/nope", "{", MERGE)
    assert answer.status_code == 404


async def test_a_status_is_looked_at_alone(api: Api) -> None:
    body = {"spec": {"color": "pink"}, "status": {"ready": True}}
    assert (await send(api, "PATCH", f"{ONE}/status", body, MERGE)).status_code == 200
    answer = await send(api, "PATCH", f"{ONE}/status", {"status": {"ready": "x"}}, MERGE)
    assert answer.json()["message"] == (
        'Widget.example.io "w" is invalid: status.ready: Invalid value: "string": ready in body must be of '
        'type boolean: "string"'
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"preconditions": {"uid": UID}},
            f'Operation cannot be fulfilled on Widget.example.io "w": the UID in the precondition ({UID}) '
            "does not match the UID in record ({uid}). The object might have been deleted and then recreated",
        ),
        (
            {"preconditions": {"resourceVersion": "1"}},
            'Operation cannot be fulfilled on Widget.example.io "w": the ResourceVersion in the precondition '
            "(1) does not match the ResourceVersion in record ({rv}). The object might have been modified",
        ),
    ],
)
async def test_deletions_of_another_object(api: Api, one: dict[str, Any], options: Any, message: str) -> None:
    answer = await send(api, "DELETE", ONE, {"kind": "DeleteOptions", "apiVersion": "v1", **options}, JSON)
    metadata = one["metadata"]
    wanted = message.format(uid=metadata["uid"], rv=metadata["resourceVersion"])
    assert (answer.status_code, answer.json()["message"]) == (409, wanted)


async def test_names_that_are_taken(api: Api) -> None:
    taken = 'widgets.example.io "w" already exists'
    assert (await api.create(COLLECTION, widget(), dryRun="All")).json()["message"] == taken
    generated = await api.create(COLLECTION, widget(generateName="w-"))
    assert generated.headers["retry-after"] == "1"
    assert generated.json()["message"].startswith(f"{taken}, the server was not able to generate")
    assert (await api.merge(ONE, {"metadata": {"finalizers": ["x.io/y"]}})).status_code == 200
    dry = (await api.delete(ONE, dryRun="All")).json()
    assert dry["metadata"]["deletionGracePeriodSeconds"] == 0
    assert "deletionTimestamp" not in (await api.get(ONE)).json()["metadata"]
    assert (await api.delete(ONE)).status_code == 200
    assert (await api.create(COLLECTION, widget())).json()["message"] == f"object is being deleted: {taken}"


async def test_a_finalizer_without_a_domain_is_warned_of(api: Api) -> None:
    answer = await api.merge(ONE, {"metadata": {"finalizers": ["hold"]}})
    assert answer.status_code == 200
    assert answer.headers["warning"] == (
        r'299 - "metadata.finalizers: \"hold\": prefer a domain-qualified finalizer name to avoid accidental '
        r'conflicts with other finalizer writers"'
    )


async def test_dry_runs_and_duplicate_members_give_warnings(api: Api) -> None:
    twice = '{"spec":{"bogus":1},"metadata":{"labels":{"a":"1","a":"2"}}}'
    answer = await send(api, "PATCH", f"{ONE}?dryRun=All", twice, MERGE)
    assert answer.headers.get_list("warning") == [
        r'299 - "duplicate field \"metadata.labels.a\""',
        r'299 - "unknown field \"spec.bogus\""',
    ]


async def test_nothing_is_created_in_a_namespace_that_ends(api: Api) -> None:
    deleted = (await api.delete("/api/v1/namespaces/a")).json()
    seen = f"?resourceVersion={deleted['metadata']['resourceVersion']}"  # admission asks the cache
    ending = (await api.get(f"/api/v1/namespaces/a{seen}")).json()
    assert "deletionGracePeriodSeconds" not in ending["metadata"]
    answer = (await api.create(COLLECTION, widget("new"))).json()
    assert answer["message"] == (
        'widgets.example.io "new" is forbidden: unable to create new content in namespace a because it is '
        "being terminated"
    )
    assert answer["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace a is being terminated",
            "field": "metadata.namespace",
        }
    ]


async def test_system_priorities_stay(api: Api) -> None:
    for name, code in (("system-node-critical", 403), ("own", 404)):
        answer = await api.http.delete(f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}")
        assert answer.status_code == code, answer.text
