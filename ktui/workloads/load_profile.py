"""Load profiles from files: kperf's LoadProfile as YAML, or the same words as TOML (docs/workloads.md)."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from ktui.client.connection import ClientError
from ktui.documents.limits import DocumentError, parse_toml, read_bytes
from ktui.documents.yamlreader import read_yaml
from ktui.kube.access_pattern import JSON, PROTOBUF
from ktui.workloads.behaviours.watch_events import watch_lines
from ktui.workloads.running.fleet import LoadClient, with_retries
from ktui.workloads.running.knobs import Knob, WorkloadError
from ktui.workloads.running.workload import LoadContext, Workload

MOST_BYTES = 1 << 20
MOST_RATE, MOST_CONNECTIONS, MOST_REQUESTS = 10_000, 500, 1_000_000
REFUSED = ("put", "post", "postDel", "getPodLog")
PATCH_TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic-merge": "application/strategic-merge-patch+json",
}
QUORUM = "quorumList: a LIST without resourceVersion; from 1.31 on the cache answers it, and reads no quorum"


class ProfileTarget(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The target of a request; with `limit` the request is for one page."""

    resource: str
    version: str
    group: str = ""
    namespace: str = ""
    name: str = ""
    limit: int = 0
    selector: str = ""
    kperf_selector: str = msgspec.field(name="seletor", default="")  # kperf's spelling in LISTs
    field_selector: str = ""

    def path(self, **more: str) -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        place = f"/namespaces/{self.namespace}" if self.namespace else ""
        name = f"/{self.name}" if self.name else ""
        found = {
            "labelSelector": self.selector or self.kperf_selector,
            "fieldSelector": self.field_selector,
            **more,
        }
        if self.limit and not name:
            found["limit"] = str(self.limit)
        query = "&".join(f"{key}={quote(value, safe='')}" for key, value in found.items() if value)
        return f"{root}{place}/{self.resource}{name}" + (f"?{query}" if query else "")


class ProfilePatch(ProfileTarget):
    """A PATCH of one of the existing objects `name`-0 to `name`-(keySpaceSize − 1)."""

    key_space_size: int = 1
    patch_type: str = ""
    body: str = ""  # JSON

    def check(self) -> str:
        """Return what is wrong with the patch, "" if it is valid."""
        if not self.name or self.key_space_size < 1:
            return "patch: give name, and a keySpaceSize of at least 1"
        if self.patch_type not in PATCH_TYPES:
            return f"patch: patchType is one of {', '.join(PATCH_TYPES)}"
        try:
            msgspec.json.decode(self.body)
        except msgspec.DecodeError:
            return "patch: the body is not valid JSON"
        return ""

    async def send(self, client: LoadClient, label: str, rng: random.Random, retries: int) -> None:
        path = f"{self.path()}-{rng.randrange(self.key_space_size)}"
        write = partial(client.write, content_type=PATCH_TYPES[self.patch_type])
        body = msgspec.Raw(self.body.encode())
        await with_retries(lambda: write("PATCH", path, body, label), retries)


class WeightedRequest(msgspec.Struct, rename="camel"):
    """A kind of request with its weight; exactly one of the kinds is set."""

    shares: int = 1
    stale_list: ProfileTarget | None = None
    quorum_list: ProfileTarget | None = None
    watch_list: ProfileTarget | None = None
    stale_get: ProfileTarget | None = None
    quorum_get: ProfileTarget | None = None
    patch: ProfilePatch | None = None

    @property
    def kinds(self) -> list[str]:
        """The kinds that are set: one, once the profile is checked."""
        return [kind for kind in KINDS if getattr(self, kind) is not None]

    @property
    def label(self) -> str:
        (kind,) = self.kinds
        return f"{KINDS[kind]} {getattr(self, kind).resource}"

    async def send(self, client: LoadClient, rng: random.Random, accept: str, retries: int) -> None:
        """Send it; a 429 is retried after Retry-After."""
        if self.patch is not None:
            await self.patch.send(client, self.label, rng, retries)
        elif self.watch_list is not None:
            await _watch_list(client, self.watch_list, self.label)
        elif (stale := self.stale_list or self.stale_get) is not None:
            path = stale.path(resourceVersion="0")
            await client.get_with_retries(path, self.label, accept=accept, retries=retries)
        elif (quorum := self.quorum_list or self.quorum_get) is not None:
            await client.get_with_retries(quorum.path(), self.label, accept=accept, retries=retries)


# All fields but the first, `shares`.
KINDS = {kind.name: kind.encode_name for kind in msgspec.structs.fields(WeightedRequest)[1:]}
_KINDS_TEXT = ", ".join(KINDS.values())


class ProfileSpec(msgspec.Struct, rename="camel"):
    """One phase; without `total` (requests) and `duration` (seconds) it lasts until the run ends.

    `rate`: requests a second; 0: as fast as the connections allow.
    """

    requests: list[WeightedRequest]
    rate: float = 0.0
    total: int = 0
    duration: float = 0.0
    conns: int = 1
    client: int = 1
    content_type: str = "json"
    disable_http2: bool = msgspec.field(default=False, name="disableHTTP2")
    max_retries: int = 0

    @property
    def accept(self) -> str:
        return PROTOBUF if self.content_type == "protobuf" else JSON


class LoadProfile(msgspec.Struct):
    specs: list[ProfileSpec]
    version: int = 1
    description: str = ""


def read_profile(path: Path) -> Workload:
    """Return the workload that a file describes; WorkloadError names what is wrong with the file."""
    try:
        content = read_bytes(path, MOST_BYTES).decode("utf-8")
        document: Any = parse_toml(content) if path.suffix == ".toml" else read_yaml(content.encode())
    except (OSError, DocumentError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise WorkloadError(f"cannot read {path}: {why}") from error
    count = 1
    if isinstance(document, dict) and isinstance(document.get("loadProfile"), dict):
        count, document = document.get("count", 1), document["loadProfile"]
    if isinstance(document, dict) and "spec" in document:  # from earlier versions: one phase
        document = {"specs": [document["spec"]], **document}
    try:
        profile = msgspec.convert(document, LoadProfile, strict=False)
        _check(document, profile)
    except (msgspec.ValidationError, WorkloadError) as error:
        raise WorkloadError(f"{path.name} is not a load profile: {error}") from error
    return _workload(path.stem, profile, count)


def _check(document: dict[str, Any], profile: LoadProfile) -> None:
    """Check bounds, and refuse requests that ktui does not send."""
    for number, (spec, raw) in enumerate(zip(profile.specs, document["specs"], strict=True), 1):
        if not 0 <= spec.rate <= MOST_RATE or not 1 <= spec.conns <= MOST_CONNECTIONS:
            raise WorkloadError(f"specs[{number}]: rate up to {MOST_RATE}, conns 1 to {MOST_CONNECTIONS}")
        ends = spec.total > 0 or spec.duration > 0 or number == len(profile.specs)
        if not 0 <= spec.total <= MOST_REQUESTS or spec.duration < 0 or not ends:
            raise WorkloadError(f"specs[{number}]: give total (up to {MOST_REQUESTS:,}) or duration")
        if not any(request.shares for request in spec.requests):
            raise WorkloadError(f"specs[{number}]: there are no requests with shares")
        for request, given in zip(spec.requests, raw["requests"], strict=True):
            if unsupported := [kind for kind in REFUSED if kind in given]:
                raise WorkloadError(f"specs[{number}]: {unsupported[0]} is not supported: {_KINDS_TEXT} are")
            if len(request.kinds) != 1 or request.shares < 0:
                raise WorkloadError(f"specs[{number}]: a request has shares and one of {_KINDS_TEXT}")
            if request.stale_list is not None and request.stale_list.limit:
                raise WorkloadError(f"specs[{number}]: staleList with limit: the cache ignores the limit")
            if request.patch is not None and (problem := request.patch.check()):
                raise WorkloadError(f"specs[{number}]: {problem}")


def _workload(name: str, profile: LoadProfile, count: object) -> Workload:
    knobs = (Knob("pace", 1.0, "multiplies the rate of every phase", least=0.01, most=100),)
    about = profile.description or f"a load profile of {len(profile.specs)} phases"
    if isinstance(count, int) and count > 1:
        about += f" (one of the group's {count} runners)"
    kinds = {kind for spec in profile.specs for request in spec.requests for kind in request.kinds}
    sentence = f"{about}. {QUORUM}" if "quorum_list" in kinds else about

    async def run(context: LoadContext) -> None:
        for number, spec in enumerate(profile.specs, 1):
            context.begin(f"phase {number}")
            await _phase(context, spec)

    return Workload(name, sentence, knobs, run, writes="patch" in kinds)


async def _phase(context: LoadContext, spec: ProfileSpec) -> None:
    """Run one spec: its connections choose requests by weight, at a common rate."""
    loop = asyncio.get_running_loop()
    began, sent = loop.time(), 0
    weights = [request.shares for request in spec.requests]

    async def connection(client: LoadClient) -> None:
        nonlocal sent
        while not (spec.total and sent >= spec.total) and not (
            spec.duration and loop.time() - began >= spec.duration
        ):
            place, sent = sent, sent + 1
            if spec.rate:
                due = began + place / (spec.rate * context.knobs.number("pace"))
                await asyncio.sleep(max(0.0, due - loop.time()))
            try:
                await context.rng.choices(spec.requests, weights)[0].send(
                    client, context.rng, spec.accept, spec.max_retries
                )
            except ClientError:
                context.count("failed_requests")

    async with asyncio.TaskGroup() as group:
        for number in range(spec.conns):
            group.create_task(connection(context.client(f"load-profile/{number % max(1, spec.client)}")))


async def _watch_list(client: LoadClient, target: ProfileTarget, label: str) -> None:
    """Send a streaming list, until its initial events are complete."""
    more = {"watch": "true", "allowWatchBookmarks": "true", "sendInitialEvents": "true"}
    stream = client.watch(target.path(**more, resourceVersionMatch="NotOlderThan"), label)
    async with aclosing(watch_lines(stream)) as lines:
        async for line in lines:
            if b"initial-events-end" in line:
                return
