"""The priority level of ktui's own requests to a kube-apiserver."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import msgspec

from ktui.client.list_counters import lines_of
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json
from ktui.kube.flowcontrol import PriorityLevel

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

GROUP = "/apis/flowcontrol.apiserver.k8s.io"
UID_HEADER = "x-kubernetes-pf-prioritylevel-uid"
# The first minor that serves each version, newest version first.
_VERSIONS = ((29, "v1"), (26, "v1beta3"), (23, "v1beta2"), (20, "v1beta1"))
# The second name is that before 1.26.
_SEATS = ("apiserver_flowcontrol_nominal_limit_seats", "apiserver_flowcontrol_request_concurrency_limit")
_LINE = re.compile(r'[a-z_]+\{[^}]*priority_level="([^"]+)"[^}]*\} ([0-9]{1,9}(?:\.[0-9]+)?(?:e\+0[0-9])?)')


class _Queuing(msgspec.Struct):
    hand_size: int = msgspec.field(default=0, name="handSize")


class _Response(msgspec.Struct):
    queuing: _Queuing | None = None


class _Limited(msgspec.Struct, rename="camel"):
    nominal_concurrency_shares: int | None = None
    assured_concurrency_shares: int | None = None
    limit_response: _Response | None = None


class _Spec(msgspec.Struct):
    limited: _Limited | None = None


class _Metadata(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Level(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec


class _Levels(msgspec.Struct):
    items: list[_Level] | None = None


async def own_level(client: ApiClient, minor: int) -> PriorityLevel | None:
    """Return the level in a response's header, with its limits if levels and metrics are readable.

    None if unknown. Raises ClientError if the server is unreachable.
    """
    version = next((name for since, name in _VERSIONS if minor >= since), "")
    if not version:
        return None
    answer = await client.request("GET", f"{GROUP}/{version}/prioritylevelconfigurations")
    uid = answer.headers.get(UID_HEADER, "")
    if not uid or answer.status_code != 200:
        return None
    try:
        levels = decode_json(answer.content, _Levels).items or []
    except DocumentError:
        return None
    found = next((level for level in levels if level.metadata.uid == uid), None)
    if found is None:
        return None
    return _described(found, await _nominal(client, found.metadata.name))


def _described(level: _Level, nominal: int | None) -> PriorityLevel:
    limited = level.spec.limited or _Limited()
    queuing = limited.limit_response.queuing if limited.limit_response is not None else None
    return PriorityLevel(
        level.metadata.name,
        limited.nominal_concurrency_shares or limited.assured_concurrency_shares or 0,
        queuing.hand_size if queuing is not None else 0,
        nominal,
    )


async def _nominal(client: ApiClient, name: str) -> int | None:
    """Return the level's nominal seats from the server's metrics; None if not readable."""
    answer = await client.request("GET", "/metrics")
    if answer.status_code != 200:
        return None
    return await asyncio.to_thread(_seats_of, answer.content, name)


def _seats_of(exposition: bytes, name: str) -> int | None:
    found = filter(None, map(_LINE.match, lines_of(exposition, *_SEATS)))
    return next((round(float(seats)) for level, seats in (m.groups() for m in found) if level == name), None)
