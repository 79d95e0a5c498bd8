"""The time of a slow request by part: the `apiserver.latency.k8s.io/*` annotations of an audit Event.

kube-apiserver writes them from 1.24 on, for requests of more than 500 ms. Parts of length 0 are left out.
Serializing and writing to the client are interleaved; the logged time of serializing includes writing.
"""

from __future__ import annotations

import msgspec

from ktui.audit.formats.go_formats import duration
from ktui.audit.formats.record import Spent

_DOMAIN = "apiserver.latency.k8s.io/"


def _field(name: str) -> str:
    return msgspec.field(name=_DOMAIN + name, default="")


class Annotations(msgspec.Struct, gc=False):
    """Go durations as text; "" if missing."""

    total: str = _field("total")
    etcd: str = _field("etcd")
    queue: str = _field("apf-queue-wait")
    decode: str = _field("decode-response-object")
    transform: str = _field("transform-response-object")
    serialize: str = _field("serialize-response-object")
    write: str = _field("response-write")
    mutating: str = _field("mutating-webhook")
    validating: str = _field("validating-webhook")
    authentication: str = _field("authentication")
    authorization: str = _field("authorization")
    impersonation: str = _field("impersonation")


def spent(annotations: Annotations) -> Spent | None:
    """Return the parts of a slow request; None if it was not slow. Raises Malformed."""
    if not annotations.total:
        return None
    write = _micros(annotations.write)
    decode = _micros(annotations.decode)
    others = (annotations.mutating, annotations.validating, annotations.authentication,
              annotations.authorization, annotations.impersonation)  # fmt: skip
    return Spent(
        total=duration(annotations.total),
        queue=_micros(annotations.queue),
        etcd=_micros(annotations.etcd),
        encode=decode + _micros(annotations.transform) + max(0, _micros(annotations.serialize) - write),
        write=write,
        other=sum(map(_micros, others)),
        decode=decode,
    )


def _micros(text: str) -> int:
    return duration(text) if text else 0
