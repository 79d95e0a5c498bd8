"""Bodies that would crash a parser or take it minutes: refused as upstream refuses them."""

from __future__ import annotations

import asyncio

import pytest

from tests.etcd.apiserver.conftest import Api

pytestmark = pytest.mark.anyio

MAPS, PODS = "/api/v1/namespaces/a/configmaps", "/api/v1/namespaces/a/pods"
SETS = "/apis/apps/v1/namespaces/a/replicasets"
TARGETS = [
    ("POST", MAPS, "application/json"),
    ("POST", MAPS, "application/yaml"),
    ("POST", MAPS, "application/vnd.kubernetes.protobuf"),
    ("POST", MAPS, "text/plain"),
    ("PUT", f"{MAPS}/x", "application/yaml"),
    ("PUT", f"{PODS}/x/status", "application/json"),
    ("PUT", f"{SETS}/x/scale", "application/yaml"),
    ("PUT", "/api/v1/namespaces/a/finalize", "application/yaml"),
    ("PATCH", f"{MAPS}/x", "application/merge-patch+json"),
    ("PATCH", f"{MAPS}/x", "application/json-patch+json"),
    ("PATCH", f"{MAPS}/x", "application/strategic-merge-patch+json"),
    ("PATCH", f"{MAPS}/x?fieldManager=m", "application/apply-patch+yaml"),
    ("PATCH", f"{SETS}/x/scale", "application/merge-patch+json"),
    ("DELETE", f"{MAPS}/x", "application/yaml"),
    ("DELETE", MAPS, "application/json"),
    ("POST", f"{PODS}/x/binding", "application/yaml"),
    ("POST", f"{PODS}/x/eviction", "application/yaml"),
    ("PUT", "/ktui/v1/behaviour", "application/json"),
]
LETTERS = range(97, 122)
BODIES = {
    "dashes": b"- " * 25_000,
    "brackets": b"[" * 1_000_000,
    "objects": b'{"a":' * 20_000,
    "fewer objects": b'{"a":' * 2000,
    "flow": b"{a: " * 20_000,
    "closed": b"[" * 2000 + b"]" * 2000,
    "deep labels": b'{"kind":"ConfigMap","metadata":{"labels":' + b'{"a":' * 500 + b"1" + b"}" * 502,
    "aliases": b"a: &a [x]\n" + b"".join(b"%c: &%c [*%c,*%c]\n" % (c + 1, c + 1, c, c) for c in LETTERS),
    "NUL": b'{"a": "\0"}',
    "not UTF-8": b"\xff\xfe\xfd",
    "message": b"k8s\0" + b"\x0a\xff\xff\xff\xff\x0f" * 10,
}  # fmt: skip


@pytest.fixture(scope="module")
def api(shared_api: Api) -> Api:
    return shared_api


@pytest.mark.parametrize("name", BODIES)
async def test_no_body_is_answered_with_a_500(api: Api, name: str) -> None:
    async def sent(method: str, path: str, media_type: str) -> int:
        answer = await api.http.request(
            method, path, content=BODIES[name], headers={"Content-Type": media_type}
        )
        assert answer.json()["kind"] == "Status", answer.text
        return answer.status_code

    codes = await asyncio.gather(*(sent(*target) for target in TARGETS))
    assert set(codes) <= {400, 404, 413, 415}
    assert (await api.get("/readyz")).status_code == 200


@pytest.mark.parametrize(
    ("media_type", "body", "message"),
    [
        (
            "application/yaml",
            BODIES["dashes"],
            f"yaml: line 1: exceeded max depth of 200 ({(b'- ' * 15).hex()} ...)",
        ),
        (
            "application/json",
            BODIES["brackets"],
            f"couldn't get version/kind; json parse error: exceeded max depth ({(b'[' * 30).hex()} ...)",
        ),
    ],
    ids=["YAML", "JSON"],
)
async def test_too_deep(api: Api, media_type: str, body: bytes, message: str) -> None:
    answer = await api.http.post(MAPS, content=body, headers={"Content-Type": media_type})
    refused = "the object provided is unrecognized (must be of type ConfigMap): "
    assert (answer.status_code, answer.json()["message"]) == (400, refused + message)


async def test_too_deep_to_apply(api: Api) -> None:
    path = f"{MAPS}/x?fieldManager=m"
    headers = {"Content-Type": "application/apply-patch+yaml"}
    answer = await api.http.patch(path, content=BODIES["dashes"], headers=headers)
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        "error decoding YAML: error converting YAML to JSON: yaml: line 1: exceeded max depth of 200",
    )
    answer = await api.http.patch(path, content=b"a: 1\na: 2", headers=headers)
    assert answer.json()["message"] == "invalid object type: /, Kind="
    assert (await api.http.patch(path, headers=headers)).json()["message"] == "invalid object type: /, Kind="


async def test_a_configuration_with_keys_given_twice(api: Api) -> None:
    path, headers = f"{MAPS}/x?fieldManager=m", {"Content-Type": "application/apply-patch+yaml"}
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '1', a: '2', b: '', b: ''}\n"
    twice = [f'line 4: key "{key}" already set in map' for key in "ab"]
    answer = await api.http.patch(f"{path}&fieldValidation=Strict", content=body, headers=headers)
    assert answer.json()["message"] == "\n  ".join(
        [
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:",
            *twice,
        ]
    )
    answer = await api.http.patch(path, content=body, headers=headers)
    assert answer.json()["data"] == {"a": "2", "b": ""}
    warnings = answer.headers.get_list("warning")
    assert [warning.replace('\\"', '"')[len('299 - "') : -1] for warning in warnings] == twice


async def test_limits_of_a_document(api: Api) -> None:
    body = b'{"metadata":{"name":"x"},"data":[%s{}]}' % (b"{}," * 150_000)
    answer = await api.http.post(MAPS, content=body, headers={"Content-Type": "application/json"})
    message = "Request entity too large: limit is 100000 objects and lists in one document"
    assert (answer.status_code, answer.json()["message"]) == (413, message)


async def test_large_objects_are_written_and_read_as_small_ones(api: Api) -> None:
    data = {f"key{i}": f"value {i}" for i in range(20_000)}
    answer = await api.create(MAPS, {"metadata": {"name": "large"}, "data": data})
    assert answer.status_code == 201, answer.text
    assert answer.json()["data"] == data
    lines = "".join(f"  {key}: {value}\n" for key, value in data.items())
    yaml = f"metadata: {{name: yaml}}\ndata:\n{lines}"
    answer = await api.http.post(MAPS, content=yaml, headers={"Content-Type": "application/yaml"})
    assert answer.status_code == 201, answer.text
    assert answer.json()["data"] == data
    answer = await api.merge(f"{MAPS}/large", {"data": {"key0": None}})
    assert answer.status_code == 200, answer.text
    assert len((await api.get(f"{MAPS}/large")).json()["data"]) == len(data) - 1


async def test_duplicate_keys_of_yaml_are_warned_of(api: Api) -> None:
    body = b"metadata: {name: twice}\ndata:\n  a: x\n  a: z\n"
    headers = {"Content-Type": "application/yaml"}
    answer = await api.http.post(f"{MAPS}?fieldValidation=Strict", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["message"].endswith(
        'strict decoding error: yaml: unmarshal errors:\n  line 4: key "a" already set in map'
    )


async def test_a_resource_version_of_any_length_is_ignored_if_it_does_not_fit(api: Api) -> None:
    """Python converts at most 4,300 digits."""
    made = await api.create(
        "/api/v1/namespaces/a/configmaps", {"metadata": {"name": "c", "resourceVersion": "9" * 5000}}
    )
    assert made.status_code == 201, made.text
