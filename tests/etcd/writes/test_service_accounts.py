"""New pods run as a service account of their namespace, and mount its token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ktui.etcd.client import EtcdClient
from ktui.writes.accounts_controller import AccountsController
from tests.etcd.apiserver.conftest import Api, running

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

NAMESPACES = "/api/v1/namespaces"
A = f"{NAMESPACES}/a"
PODS, ACCOUNTS, MAPS = f"{A}/pods", f"{A}/serviceaccounts", f"{A}/configmaps"
TOKENS = "/var/run/secrets/kubernetes.io/serviceaccount"
CA = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"


@pytest.fixture
async def admitting(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    """A server with ServiceAccount admission and the controller; namespace `a` was just created."""
    async with running(client, prefix, disabled_admission=frozenset()) as api:
        controller = AccountsController(api.services.registry, CA)
        controller.start()
        await made(api, NAMESPACES, {"metadata": {"name": "a"}})
        yield api
        await controller.stop()


async def made(api: Api, collection: str, obj: dict[str, Any]) -> dict[str, Any]:
    answer = await api.create(collection, obj)
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    return created


def pod(name: str = "p", annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]
    metadata = {"name": name, "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


async def there(api: Api, path: str) -> dict[str, Any]:
    """Wait until GET finds it; each try is an answer of the server."""
    async with asyncio.timeout(60):
        while (answer := await api.get(path)).status_code != 200:
            pass
    found: dict[str, Any] = answer.json()
    return found


async def test_a_pod_right_after_its_namespace_has_account_and_token(admitting: Api) -> None:
    init = [{"name": "init", "image": "i", "volumeMounts": [{"name": "own", "mountPath": TOKENS}]}]
    volumes = [{"name": "own", "emptyDir": {}}]
    spec = (await made(admitting, PODS, pod(initContainers=init, volumes=volumes)))["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    name = spec["volumes"][1]["name"]
    assert name.startswith("kube-api-access-") and len(name) == len("kube-api-access-") + 5
    assert spec["volumes"][1]["projected"] == {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {
                "configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }
            },
            {
                "downwardAPI": {
                    "items": [
                        {
                            "path": "namespace",
                            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                        }
                    ]
                }
            },
        ],
    }
    mount = {"name": name, "readOnly": True, "mountPath": TOKENS}
    assert [container["volumeMounts"] for container in spec["containers"]] == [[mount], [mount]]
    assert spec["initContainers"][0]["volumeMounts"] == [{"name": "own", "mountPath": TOKENS}]


async def test_fields_of_admission_have_no_manager(admitting: Api) -> None:
    fields = (await made(admitting, PODS, pod()))["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert "f:serviceAccountName" not in fields and "f:volumes" not in fields


@pytest.mark.parametrize(("of_account", "of_pod", "mounts"), [
    (None, None, True), (False, None, False), (False, True, True), (True, False, False), (None, False, False),
])  # fmt: skip
async def test_who_decides_on_the_token(
    admitting: Api, of_account: bool | None, of_pod: bool | None, mounts: bool
) -> None:
    account = {"metadata": {"name": "builder"}, "automountServiceAccountToken": of_account}
    await made(admitting, ACCOUNTS, account)
    created = pod(serviceAccountName="builder", automountServiceAccountToken=of_pod)
    spec = (await made(admitting, PODS, created))["spec"]
    assert (spec["serviceAccountName"], bool(spec.get("volumes"))) == ("builder", mounts)


async def test_pull_secrets_of_the_account(admitting: Api) -> None:
    secrets = [{"name": "registry"}]
    await made(admitting, ACCOUNTS, {"metadata": {"name": "builder"}, "imagePullSecrets": secrets})
    spec = (await made(admitting, PODS, pod(serviceAccountName="builder")))["spec"]
    assert spec["imagePullSecrets"] == secrets
    own = [{"name": "own"}]
    spec = (await made(admitting, PODS, pod("q", serviceAccountName="builder", imagePullSecrets=own)))["spec"]
    assert spec["imagePullSecrets"] == own


async def test_a_missing_account_is_403(admitting: Api) -> None:
    answer = await admitting.create(PODS, pod(serviceAccountName="x"))
    why = 'error looking up service account a/x: serviceaccount "x" not found'
    assert (answer.status_code, answer.json()["message"]) == (403, f'pods "p" is forbidden: {why}')
    generated = pod(serviceAccountName="x")
    generated["metadata"] = {"generateName": "web-"}
    answer = await admitting.create(PODS, generated)
    assert (answer.status_code, answer.json()["message"]) == (403, f'pods "web-" is forbidden: {why}')


async def test_mirror_pods_have_no_account(admitting: Api) -> None:
    mirror = {"kubernetes.io/config.mirror": "x"}
    spec = (await made(admitting, PODS, pod(annotations=mirror, nodeName="n")))["spec"]
    assert "serviceAccountName" not in spec and "volumes" not in spec
    secret = [{"name": "v", "secret": {"secretName": "s"}}]
    token = [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]
    for refused, why in (
        (pod(annotations=mirror, serviceAccountName="default"), "may not reference service accounts"),
        (pod(annotations=mirror, volumes=secret), "may not reference secrets"),
        (pod(annotations=mirror, imagePullSecrets=[{"name": "s"}]), "may not reference secrets"),
        (pod(annotations=mirror, volumes=token), "may not use ServiceAccountToken volume projections"),
    ):
        answer = await admitting.create(PODS, refused)
        expected = f'pods "p" is forbidden: a mirror pod {why}'
        assert (answer.status_code, answer.json()["message"]) == (403, expected)


async def test_an_account_may_allow_only_its_secrets(admitting: Api) -> None:
    metadata = {"name": "strict", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
    await made(admitting, ACCOUNTS, {"metadata": metadata, "secrets": [{"name": "mine"}]})

    def mounting(secret: str) -> dict[str, Any]:
        volumes = [{"name": "v", "secret": {"secretName": secret}}]
        return pod(serviceAccountName="strict", volumes=volumes)

    await made(admitting, PODS, mounting("mine"))
    answer = await admitting.create(PODS, mounting("theirs"))
    assert (answer.status_code, answer.json()["message"]) == (
        403,
        'pods "p" is forbidden: volume with secret.secretName="theirs" is not allowed because service '
        "account strict does not reference that secret",
    )


async def test_a_token_needs_an_account(api: Api) -> None:
    """Without the plugin a pod may have no account."""
    token = [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]
    answer = await api.create(PODS, pod(volumes=token))
    assert (answer.status_code, answer.json()["details"]["causes"]) == (
        422,
        [
            {
                "reason": "FieldValueForbidden",
                "message": "Forbidden: must not be specified when serviceAccountName is not set",
                "field": "spec.volumes[0].projected.sources[0].serviceAccountToken",
            }
        ],
    )


async def test_accounts_and_the_ca_are_restored(admitting: Api) -> None:
    first = (await there(admitting, f"{ACCOUNTS}/default"))["metadata"]["uid"]
    assert (await admitting.delete(f"{ACCOUNTS}/default")).status_code == 200
    async with asyncio.timeout(60):
        while (await there(admitting, f"{ACCOUNTS}/default"))["metadata"]["uid"] == first:
            pass
    path = f"{MAPS}/kube-root-ca.crt"
    found = await there(admitting, path)
    assert found["data"] == {"ca.crt": CA}
    assert found["metadata"]["annotations"].keys() == {"kubernetes.io/description"}
    assert found["metadata"]["managedFields"][0]["manager"] == "kube-controller-manager"
    assert (await admitting.merge(path, {"data": {"ca.crt": "x", "y": "z"}})).status_code == 200
    async with asyncio.timeout(60):
        while (await there(admitting, path))["data"] != {"ca.crt": CA}:
            pass


async def test_the_ca_of_a_controller_manager_stays(admitting: Api) -> None:
    """Two controllers that restore different CAs would never end."""
    path = f"{MAPS}/kube-root-ca.crt"
    await there(admitting, path)
    headers = {"User-Agent": "kube-controller-manager/v1.36.2 (linux/amd64)"}
    found = (await admitting.get(path)).json()
    changed = await admitting.http.put(path, json={**found, "data": {"ca.crt": "x"}}, headers=headers)
    assert changed.status_code == 200
    await made(admitting, NAMESPACES, {"metadata": {"name": "b"}})
    await admitting.delete(f"{NAMESPACES}/b/configmaps/kube-root-ca.crt")
    await there(admitting, f"{NAMESPACES}/b/configmaps/kube-root-ca.crt")  # after that of `a`
    assert (await admitting.get(path)).json()["data"] == {"ca.crt": "x"}


async def test_a_namespace_that_ends_gets_no_account(admitting: Api) -> None:
    await there(admitting, f"{ACCOUNTS}/default")
    await there(admitting, f"{MAPS}/kube-root-ca.crt")
    await admitting.delete(A)  # its finalizer keeps it: no controller of namespaces runs here
    assert (await admitting.delete(f"{ACCOUNTS}/default")).status_code == 200
    await made(admitting, NAMESPACES, {"metadata": {"name": "b"}})
    await there(admitting, f"{NAMESPACES}/b/configmaps/kube-root-ca.crt")  # later than that of `a`
    assert (await admitting.get(f"{ACCOUNTS}/default")).status_code == 404
