"""kube-apiserver's audit log: one audit.k8s.io/v1 Event per line.

A request is one Event per stage: RequestReceived, for a WATCH ResponseStarted, and
finally ResponseComplete (or Panic).
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated

import msgspec

from ktui.audit.formats.log_record import (
    READS,
    LoggedRequest,
    Malformed,
    Skip,
    Skips,
    Spent,
    duration,
    elapsed,
    since_epoch,
    undecodable,
)

_DOMAIN = "apiserver.latency.k8s.io/"


def _field(name: str) -> str:
    return msgspec.field(name=_DOMAIN + name, default="")


class Annotations(msgspec.Struct, gc=False):
    """The time of a slow request by part: Go durations as text; "" if missing.

    kube-apiserver writes them from 1.24 on, for requests of more than 500 ms. Parts of length 0 are left out.
    Serializing and writing to the client are interleaved; the logged time of serializing includes writing.
    """

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


# A shortcut for the order in which kube-apiserver encodes an Event; other orders and escaped quotes are
# decoded. Possessive quantifiers keep the match fast: it is a tenth of the work of reading.
START = re.compile(
    rb'\{"kind":"Event","apiVersion":"audit\.k8s\.io/v1",(?:"level":"[^"]*+","auditID":"[^"]*+",'
    rb'"stage":"(?:(RequestReceived)"|[^"]*+","requestURI":"[^"]*+","verb":"([^"]*+)"))?+'
)
_EARLY, _VERB = 1, 2  # groups of START
_STAGES = frozenset(("ResponseStarted", "ResponseComplete", "Panic"))
_READ_VERBS = frozenset(verb.encode() for verb in READS)
_BODY = re.compile(rb',\s*"(?:requestObject|responseObject)"\s*:')
_TIMES = b'"requestReceivedTimestamp"'
CUT_OFF = "an audit Event that is cut off (CloudWatch Logs cuts them at 256 KB)"


class _User(msgspec.Struct, gc=False):
    username: str = ""


class _Status(msgspec.Struct, gc=False):
    code: Annotated[int, msgspec.Meta(ge=-1, le=999)] = -1


class _Event(msgspec.Struct, rename="camel", gc=False):
    stage: str
    verb: str
    request_uri: str = msgspec.field(name="requestURI")
    request_received_timestamp: datetime
    stage_timestamp: datetime
    user_agent: str = ""
    user: _User | None = None
    impersonated_user: _User | None = None
    response_status: _Status | None = None
    audit_id: str = msgspec.field(name="auditID", default="")
    annotations: Annotations | None = None


_decode = msgspec.json.Decoder(_Event).decode


def read(line: bytes, start: re.Match[bytes] | None = None, *, writes: bool = False) -> LoggedRequest | Skip:
    """Return the request of an Event, or why it is not counted. Raises Malformed.

    `start` is a match of START at the beginning of the line. Without `writes` only reads are requests.
    """
    start = start or START.match(line)
    if start and (found := start.lastindex):
        if found == _EARLY:
            return Skips.EARLY
        if start[_VERB] not in _READ_VERBS and not writes:
            return Skips.WRITES
    try:
        event = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "truncated" in str(error):
            raise Malformed(CUT_OFF) from None
        raise undecodable(error, "an audit Event") from None
    if event.stage == "RequestReceived":
        return Skips.EARLY
    if event.verb not in READS and not writes:
        return Skips.WRITES
    if event.stage not in _STAGES:
        raise Malformed(f"unknown audit stage {event.stage[:40]!r}")
    stage = event.stage_timestamp
    user, status = event.impersonated_user or event.user, event.response_status
    annotations = event.annotations
    return LoggedRequest(
        event.verb, event.request_uri, event.user_agent, user.username if user else "", since_epoch(stage),
        elapsed(event.request_received_timestamp, stage), status.code if status else -1,
        event.stage != "ResponseStarted", id=event.audit_id,
        spent=spent(annotations) if annotations and annotations.total else None,
    )  # fmt: skip


def read_long(head: bytes, tail: bytes, *, writes: bool = False) -> LoggedRequest | Skip:
    """Read an Event with a large object: only the parts before and after the object are decoded."""
    body, times = _BODY.search(head), tail.rfind(_TIMES)
    if body is None or times < 0:
        raise Malformed("a line too long, in which no audit Event is found")
    return read(head[: body.start()] + b"," + tail[times:], writes=writes)
