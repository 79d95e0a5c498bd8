"""Most objects of a demo cluster are written into the embedded etcd as copies of a few.

Through the API 2,000 pods take 20 seconds, and 100,000 a quarter of an hour. Of objects that are alike the
first ones go that way; what the server has stored is read back, and further ones are made of it.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.contract.events.base import ServerInfo
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.errors import EtcdError
from ktui.etcd.types import Put
from ktui.kube.requestinfo import parse_path
from ktui.kube.resources import BUILTIN, Resource
from ktui.storage.keys import ResourceKeys
from ktui.telemetry.bus import Bus
from ktui.wire.codec import codec_for
from ktui.wire.encode import encode_object
from ktui.workloads.demo.plan import DemoPlan
from ktui.workloads.demo.pods import Create, Json
from ktui.workloads.seeding import SeedProgress, seed

# A key or a value of a list's item in managed fields: k:{"ip":"10.64.0.2"}, v:"10.64.0.0/24".
_QUOTED = re.compile(r'\\"([^"\\]*)\\"')


class NotAlike(Exception):
    """The objects differ in more than texts and numbers, so one cannot be derived from the other."""


def copy_of(stored: Json, example: Create, wanted: Create) -> Json:
    """Return the object that the server would store for `wanted`; it stored the `alike` object `example` as
    `stored`.

    The copy has its own uid and the example's times. Members that the server omitted in the example are
    omitted in the copy. Raises NotAlike.
    """
    changed: dict[str, str | None] = {}
    sent, other = (
        item.body if item.status is None else {**item.body, "status": item.status}
        for item in (example, wanted)
    )
    copied: Json = _carried(stored, sent, other, changed)
    metadata = {**copied["metadata"], "uid": str(uuid.uuid4())}
    if "managedFields" in metadata:
        metadata["managedFields"] = _renamed(metadata["managedFields"], changed)
    return {**copied, "metadata": metadata}


def _carried(stored: Any, sent: Any, other: Any, changed: dict[str, str | None]) -> Any:
    """Return `stored` with the leaves of `other` instead of `sent`'s; add texts that differ to `changed`."""
    if sent == other:
        return stored
    if isinstance(sent, dict) and isinstance(other, dict) and isinstance(stored, dict):
        if sent.keys() != other.keys():
            raise NotAlike
        return {
            name: _carried(value, sent[name], other[name], changed) if name in sent else value
            for name, value in stored.items()
        }
    if isinstance(sent, list) and isinstance(other, list) and isinstance(stored, list):
        if not len(sent) == len(other) == len(stored):
            raise NotAlike
        return [_carried(*each, changed) for each in zip(stored, sent, other, strict=True)]
    if stored != sent or type(sent) is not type(other):
        raise NotAlike
    if isinstance(sent, str) and changed.setdefault(sent, other) != other:
        changed[sent] = None  # it corresponds to several texts
    return other


def _renamed(fields: list[Json], changed: dict[str, str | None]) -> list[Json]:
    """Return managed fields with the copy's values in the keys of list items."""

    def renamed(found: re.Match[str]) -> str:
        name = changed.get(found[1], found[1])
        if name is None:
            raise NotAlike
        return f'\\"{name}\\"'

    copied: list[Json] = msgspec.json.decode(_QUOTED.sub(renamed, msgspec.json.encode(fields).decode()))
    return copied


COPIES_OF_ONE = 500  # a lease, which the copies of an Event share, has at most 1,000 objects


async def seed_quickly(
    connection: ServerConnection,
    plan: DemoPlan,
    report: Callable[[SeedProgress], None] = lambda _: None,
    clients_may_start: Callable[[], None] = lambda: None,
) -> SeedProgress:
    """`seed`, with copies if the server's etcd is embedded and within reach. Raises ClientError."""
    async with _embedded_etcd(connection) as etcd:
        copier = None if etcd is None else EtcdCopier(etcd)
        return await seed(connection, plan, report, copier, clients_may_start)


@asynccontextmanager
async def _embedded_etcd(connection: ServerConnection) -> AsyncIterator[EtcdClient | None]:
    """A connection to the etcd that the server has started itself, None if there is none."""
    client = ApiClient(connection)
    info: ServerInfo | None = None
    try:
        with suppress(ClientError):  # it is another server, or does not tell this user
            info = await KtuiApi(client).info()
    finally:
        await client.close()
    if info is None or info.etcd_kind != "embedded" or not info.writable:
        yield None
        return
    try:
        etcd = await EtcdClient.connect(EtcdConfig(tuple(info.endpoints), read_only=False), Bus())
    except EtcdError:  # the server runs elsewhere
        yield None
        return
    try:
        yield etcd
    finally:
        await etcd.close()


@dataclass(slots=True)
class _Example:
    item: Create
    stored: Json
    resource: Resource
    lease: int
    left: int = COPIES_OF_ONE


class EtcdCopier:
    """Stores copies in the server's etcd."""

    def __init__(self, etcd: EtcdClient) -> None:
        self._etcd = etcd
        self._examples: dict[str, _Example] = {}

    def has_example(self, item: Create) -> bool:
        """True if it can be copied; each call counts."""
        example = self._examples.get(item.alike)
        if example is None or not example.left:
            return False
        example.left -= 1
        return True

    async def learn(self, item: Create, answer: bytes) -> None:
        """Read what is stored of it; what etcd would not store again byte by byte is no example."""
        resource = resource_of(item)
        with _clear_errors():
            found = (await self._etcd.range(key_of(item, resource), purpose="get")).kvs
        if not found:
            return
        stored: Json = msgspec.json.decode(codec_for().object_json(found[0].value, None))
        same = stored["metadata"]["uid"] == msgspec.json.decode(answer)["metadata"]["uid"]
        if same and encode_object(stored, resource) == found[0].value:
            self._examples[item.alike] = _Example(item, stored, resource, found[0].lease)

    async def store(self, items: Sequence[Create]) -> Sequence[Create]:
        """Store copies, all in one transaction; return those to create. ClientError when etcd refuses."""
        puts, rest = await asyncio.to_thread(self._copies, items)
        with _clear_errors():
            if puts and not (await self._etcd.create_all(puts)).succeeded:
                return items  # one of them exists
        return rest

    def _copies(self, items: Sequence[Create]) -> tuple[list[Put], list[Create]]:
        """Return copies to store, and the items that differ too much from their examples."""
        puts, rest = [], []
        for item in items:
            example = self._examples[item.alike]
            try:
                copied = copy_of(example.stored, example.item, item)
            except NotAlike:
                rest.append(item)
                continue
            value = encode_object(copied, example.resource)
            puts.append(Put(key_of(item, example.resource), value, example.lease))
        return puts, rest


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except EtcdError as error:
        raise ClientError(str(error)) from error


def resource_of(item: Create) -> Resource:
    """The resource of its path; of a custom one what its keys and bytes need."""
    info = parse_path(item.path)
    builtin = BUILTIN.find(info.group, info.version, info.resource)
    if builtin is not None:
        return builtin
    return Resource(
        info.group, info.version, info.resource, item.body["kind"], singular="",
        namespaced=bool(info.namespace), prefix=f"{info.group}/{info.resource}/",
        storage_version=info.group_version, encoding="json", custom=True,
    )  # fmt: skip


def key_of(item: Create, resource: Resource) -> bytes:
    metadata = item.body["metadata"]
    return ResourceKeys(resource).of(metadata.get("namespace"), metadata["name"])
