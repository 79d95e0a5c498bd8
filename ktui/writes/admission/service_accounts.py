"""ServiceAccount: each new pod runs as a service account of its namespace, whose token it mounts.

Upstream: plugin/pkg/admission/serviceaccount.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import forbidden
from ktui.telemetry.off_loop import compute
from ktui.writes import stored_objects
from ktui.writes.field_paths import values_at
from ktui.writes.objectmeta import generate_name, metadata_of

SERVICE_ACCOUNT = "ServiceAccount"
DEFAULT = "default"
MIRROR = "kubernetes.io/config.mirror"
ONLY_ITS_SECRETS = "kubernetes.io/enforce-mountable-secrets"
TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
VOLUME_PREFIX = "kube-api-access-"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
ROOT_CA = "kube-root-ca.crt"
# The controller creates a namespace's `default` a moment after the namespace. Upstream asks ten times, in
# about 1.4 s; so does this, but first after a shorter time.
RETRY_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.5)


async def admit_account(server: Server, resource: Resource, namespace: str, name: str, pod: Obj) -> None:
    """Set the pod's account, its token's volume and its pull secrets, in place; `name` is for errors.

    Raises StatusError 403 for an account that does not exist, and for a mirror pod that uses one.
    """
    spec = pod.setdefault("spec", {})
    if MIRROR in (metadata_of(pod).get("annotations") or {}):
        if (why := await compute(next, _mirror_faults(spec), None)) is not None:
            raise forbidden(resource, name, why)
        return
    wanted = spec["serviceAccountName"] = spec.get("serviceAccountName") or DEFAULT
    spec["serviceAccount"] = wanted
    account = await _find(server, namespace, wanted)
    if account is None:
        lacking = stored_objects.unfit_name(wanted) or f'serviceaccount "{wanted}" not found'
        raise forbidden(resource, name, f"error looking up service account {namespace}/{wanted}: {lacking}")
    choices = [holder.get("automountServiceAccountToken") for holder in (spec, account)]
    if next((choice for choice in choices if choice is not None), True):  # the pod's own choice first
        await compute(_mount_token, spec)
    if not spec.get("imagePullSecrets") and (secrets := account.get("imagePullSecrets")):
        spec["imagePullSecrets"] = [{"name": secret.get("name", "")} for secret in secrets]
    if (metadata_of(account).get("annotations") or {}).get(ONLY_ITS_SECRETS) in TRUE and (
        why := await compute(next, _foreign_secrets(account, spec), None)
    ) is not None:
        raise forbidden(resource, name, why)


async def _find(server: Server, namespace: str, name: str) -> Obj | None:
    """Return the account from the cache, or from etcd if it was just created."""
    accounts = builtin("", "serviceaccounts")
    found = await stored_objects.find_one(server, accounts, namespace, name)
    for seconds in RETRY_SECONDS if name == DEFAULT else ():
        if found is None:
            await asyncio.sleep(seconds)
            found = await stored_objects.find_one(server, accounts, namespace, name)
    return found


def _mount_token(spec: Obj) -> None:
    """Mount the token into each container that mounts nothing at its path; add the volume if one does."""
    volumes = spec.get("volumes") or []
    names = (str(volume.get("name") or "") for volume in volumes)
    there = next((name for name in names if name.startswith(VOLUME_PREFIX)), "")
    volume = there or generate_name(VOLUME_PREFIX)
    needed = False
    for member in ("initContainers", "containers"):
        for container in spec.get(member) or []:
            mounts = container.get("volumeMounts") or []
            if not any(mount.get("mountPath") == MOUNT_PATH for mount in mounts):
                mount = {"name": volume, "readOnly": True, "mountPath": MOUNT_PATH}
                container["volumeMounts"] = [*mounts, mount]
                needed = True
    if needed and not there:
        spec["volumes"] = [*volumes, token_volume(volume)]


def token_volume(name: str) -> Obj:
    """Return the volume with an account's token, the API server's CA and the pod's namespace."""
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": ROOT_CA, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}


_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
# Where a pod names Secrets (upstream: VisitPodSecretNames).
_SECRETS = (
    "imagePullSecrets[]",
    *(f"{each}[].envFrom[].secretRef" for each in _CONTAINERS),
    *(f"{each}[].env[].valueFrom.secretKeyRef" for each in _CONTAINERS),
    "volumes[].projected.sources[].secret",
    *(f"volumes[]{{}}.{member}" for member in ("secretRef", "nodePublishSecretRef")),
)  # fmt: skip


def _mirror_faults(spec: Obj) -> Iterator[str]:
    if spec.get("serviceAccountName"):
        yield "a mirror pod may not reference service accounts"
    names = any(values_at(spec, "volumes[]{}.secretName"))  # secret, azureFile
    if names or any(values_at(spec, path) for path in _SECRETS):
        yield "a mirror pod may not reference secrets"
    for _ in values_at(spec, "volumes[].projected.sources[].serviceAccountToken"):
        yield "a mirror pod may not use ServiceAccountToken volume projections"


def _foreign_secrets(account: Obj, spec: Obj) -> Iterator[str]:
    """Yield why the pod may not use a Secret: its account does not list it."""
    name = metadata_of(account).get("name")
    about = f"is not allowed because service account {name} does not reference that"
    allowed = {secret.get("name") for secret in account.get("secrets") or []}
    for volume in spec.get("volumes") or []:
        if volume.get("secret") is not None and (name := volume["secret"].get("secretName")) not in allowed:
            yield f'volume with secret.secretName="{name}" {about} secret'
    for member, word in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(member) or []:
            for variable in container.get("env") or []:
                for name in values_at(variable, "valueFrom.secretKeyRef.name:text"):
                    if name not in allowed:
                        what = f"{word} {container.get('name')} with envVar {variable.get('name') or ''}"
                        yield f'{what} referencing secret.secretName="{name}" {about} secret'
            for source in values_at(container, "envFrom[].secretRef"):
                if (name := source.get("name")) not in allowed:
                    what = f"{word} {container.get('name')} with envFrom"
                    yield f'{what} referencing secret.secretName="{name}" {about} secret'
    pulls = {secret.get("name") for secret in account.get("imagePullSecrets") or []}
    for at, secret in enumerate(spec.get("imagePullSecrets") or []):
        if (name := secret.get("name")) not in pulls:
            yield f'imagePullSecrets[{at}].name="{name}" {about} imagePullSecret'
