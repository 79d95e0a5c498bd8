"""ComponentStatus: not stored, but checked on each request."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from ktui.apiserver.answer import finished, send_document
from ktui.apiserver.call import Call
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.forms.plain import Message
from ktui.apiserver.negotiation import negotiate
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.listing import message_chunks
from ktui.kube.golang.formatting import to_json
from ktui.kube.listoptions import parse_list_options, read_list, read_watch
from ktui.kube.requestinfo import has_route
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import method_not_allowed, method_not_supported, not_found, path_not_found
from ktui.kube.tables.table import TableRow
from ktui.storage.objects import StoredObject

RESOURCE = BUILTIN.find("", "v1", "componentstatuses")
# kube-apiserver expects them on its own host.
PORTS = {"controller-manager": 10257, "scheduler": 10259}
ETCD = "etcd-0"
PROBE_SECONDS = 1.0
MOST_BYTES = 4096


class Component:
    """A ComponentStatus with the attributes of a stored object that forms need; it has no revision."""

    rv = None

    def __init__(self, document: bytes, raw: bytes) -> None:
        self._document = document
        self.raw = raw

    def full_json(self) -> bytes:
        return self._document

    def item_pieces(self) -> tuple[bytes, ...]:
        return (b"{" + self._document.partition(b'"apiVersion":"v1",')[2],)

    def metadata_pieces(self) -> None:
        return None

    def layout(self) -> None:
        return None

    def table_row(self, _: Resource, make: Callable[[Any], TableRow]) -> TableRow:
        return make(self)


def is_served(call: Call) -> bool:
    reads = call.verb in ("GET", "LIST", "WATCH") and has_route(call.request.method, call.verb)
    return reads and not call.info.subresource


async def handle(server: Server, call: Call) -> None:
    """GET of one, LIST of all, whose options are only checked; StatusError 400, 404, 405, 406, 422."""
    assert RESOURCE is not None
    if call.info.subresource:
        raise path_not_found()
    if not is_served(call):
        raise method_not_allowed()
    of_list = call.verb != "GET"
    wants = call.request.wants_pretty
    form = negotiate(call.request.accept, custom=False, collection=of_list, pretty=wants, drops=call.drops)
    if of_list:
        options = parse_list_options(call.request.query)
        watches = options.watch or call.verb == "WATCH"
        labels, fields = (read_watch if watches else read_list)(options, call.behaviour, RESOURCE)
        if watches:
            raise method_not_supported(RESOURCE, "watch")
    codec = server.services.codec
    include = call.request.parameter("includeObject")
    renderer = object_form(form, RESOURCE, codec, include=include, of_list=of_list)
    names = [*PORTS, ETCD] if of_list else [call.info.name]
    if not of_list and call.info.name not in (*PORTS, ETCD):
        raise not_found(replace(RESOURCE, resource="componentstatus"), call.info.name)  # as upstream
    if of_list:
        named = [(name, {"metadata.name": name, "metadata.namespace": ""}) for name in names]
        names = [name for name, found in named if labels.matches({}) and fields.matches(found)]
    documents = [to_json(await _status(server, name)) for name in names]
    found = cast("list[StoredObject]", [Component(doc, codec.messages.document(doc)) for doc in documents])
    if not of_list:
        await send_document(call, finished(renderer.whole(found[0]), form), form)
        return
    if isinstance(renderer, Message):
        document = b"".join(await message_chunks(renderer, {}, found))
    else:
        items = b",".join(b"".join(renderer.item(obj)) for obj in found)
        document = finished(renderer.list_head({}) + items + renderer.list_tail({}), form)
    await send_document(call, document, form)


async def _status(server: Server, name: str) -> dict[str, Any]:
    error = ""
    if name == ETCD:
        error = server.services.facts.etcd_problem()
        message = "" if error else "ok"
    else:
        healthy, message = await _probe(PORTS[name])
        error = "" if healthy else message
    condition = {"type": "Healthy", "status": "False" if error else "True"}
    described = {"message": message} if message else {}
    failed = {"error": error} if error and name == ETCD else {}
    return {
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "conditions": [{**condition, **described, **failed}],
    }


async def _probe(port: int) -> tuple[bool, str]:
    """Return whether the component at this machine's `port` reports to be healthy, and its message."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # as upstream's probe
    address = f"127.0.0.1:{port}"
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
            with contextlib.closing(writer):
                ask = f"GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
                writer.write(ask.encode())
                head, _, body = (await _read_all(reader)).partition(b"\r\n\r\n")
    except ConnectionRefusedError:
        return False, f'Get "https://{address}/healthz": dial tcp {address}: connect: connection refused'
    except (OSError, TimeoutError) as error:
        return False, f'Get "https://{address}/healthz": {error or "timed out"}'
    return b" 200 " in head.partition(b"\r\n")[0], body.decode("utf-8", "replace")


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    """Read until the peer closes, about MOST_BYTES: headers and body may arrive separately."""
    text = b""
    while len(text) < MOST_BYTES and (more := await reader.read(4096)):
        text += more
    return text
