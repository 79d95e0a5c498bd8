"""What firing a LIST has shown: one row a form, its measures beside what was predicted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec

from ktui.client.api import Fired
from ktui.telemetry.events import RequestFinished
from ktui.tui.model.lab import ListForm


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts and times of one request, or of all pages of one question.

    Client's side: `bytes` of body, `ms` until its last byte, `first_byte_ms`.
    Server's side: objects, etcd keys, seats; `etcd_keys` is None until telemetry tells it.
    """

    bytes: int = 0
    ms: float = 0.0
    first_byte_ms: float = 0.0
    fetched: int = 0
    evaluated: int = 0
    returned: int = 0
    seats: int = 0
    etcd_keys: int | None = None
    etcd_bytes: int = 0
    requests: int = 1

    def plus(self, page: Measures) -> Measures:
        """This one and a further page: sums; the first byte stays the first, seats the greatest."""
        known = self.etcd_keys is not None and page.etcd_keys is not None
        return Measures(
            bytes=self.bytes + page.bytes,
            ms=self.ms + page.ms,
            first_byte_ms=self.first_byte_ms,
            fetched=self.fetched + page.fetched,
            evaluated=self.evaluated + page.evaluated,
            returned=self.returned + page.returned,
            seats=max(self.seats, page.seats),
            etcd_keys=(self.etcd_keys or 0) + (page.etcd_keys or 0) if known else None,
            etcd_bytes=self.etcd_bytes + page.etcd_bytes,
            requests=self.requests + page.requests,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LabResult:
    """One row of the Lab. `status` 0: no answer, `error` says why."""

    number: int
    label: str
    path: str
    form: ListForm
    predicted: str  # public route of the prediction: cache | etcd | none; "" when there was none
    status: int = 0
    route: str = ""  # as the server says: cache | etcd | cache,etcd; "" when rejected
    reason_id: str = ""
    reason: str = ""
    error: str = ""
    rv: str = ""
    continue_token: str = ""
    remaining: int | None = None
    request_ids: tuple[int, ...] = ()
    measures: Measures = Measures()
    pending: bool = False

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def surprising(self) -> bool:
        """Whether the prediction was wrong: answered from elsewhere, or rejected against it."""
        if self.pending or not self.predicted or self.status == 0:
            return False
        return self.predicted != (self.route or "none")


class _ListMeta(msgspec.Struct, frozen=True):
    resource_version: str = msgspec.field(default="", name="resourceVersion")
    continue_token: str = msgspec.field(default="", name="continue")
    remaining: int | None = msgspec.field(default=None, name="remainingItemCount")


class _Answer(msgspec.Struct, frozen=True):
    """Of a List only its metadata, of a Status its message: items are skipped, not built."""

    metadata: _ListMeta = _ListMeta()
    kind: str = ""
    message: str = ""


def read_answer(body: bytes | None) -> tuple[_ListMeta, str]:
    """Metadata of a JSON List (or a 410's fresh token), and the message of a Status."""
    if not body:
        return _ListMeta(), ""
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except msgspec.DecodeError:
        return _ListMeta(), _plain_text(body)
    return answer.metadata, answer.message if answer.kind == "Status" else ""


def _plain_text(body: bytes) -> str:
    """The beginning of a text that flow control or a proxy sent; "" for protobuf and broken JSON."""
    is_text = body[:1].isalpha() and not body.startswith(b"k8s\0")
    return body[:200].decode("utf-8", "replace").strip() if is_text else ""


def answered(result: LabResult, fired: Fired) -> LabResult:
    """`result` with what came back over HTTP; a further page adds to what is there."""
    meta, message = read_answer(fired.body)
    reason_id, reason = fired.reason
    cost = fired.cost
    page = Measures(
        bytes=fired.body_bytes,
        ms=fired.total_ms,
        first_byte_ms=fired.first_byte_ms,
        fetched=cost.get("fetched", 0),
        evaluated=cost.get("evaluated", 0),
        returned=cost.get("returned", 0),
        seats=cost.get("seats", 0),
    )
    first = not result.request_ids
    return replace(
        result,
        status=fired.status,
        route=fired.route if first else _joined(result.route, fired.route),
        reason_id=reason_id if first else result.reason_id,
        reason=reason if first else result.reason,
        error="" if fired.status == 200 else message or f"HTTP {fired.status}",
        rv=meta.resource_version or result.rv,
        continue_token=meta.continue_token,
        remaining=meta.remaining,
        request_ids=(*result.request_ids, fired.request_id),
        measures=page if first else result.measures.plus(page),
        pending=False,
    )


def _joined(before: str, now: str) -> str:
    """Routes of several pages as one: `cache`, `etcd`, or `cache,etcd` where both served."""
    parts = sorted({*before.split(","), *now.split(",")} - {""})
    return ",".join(parts)


def accounted(result: LabResult, finished: Iterable[RequestFinished]) -> LabResult:
    """`result` with what telemetry tells of its requests: keys and bytes read from etcd, the RV.

    Unchanged while one of them has not been reported yet.
    """
    by_id = [event for event in finished if event.status]
    if result.measures.etcd_keys is not None or len(by_id) < len(result.request_ids) or not by_id:
        return result
    measures = replace(
        result.measures,
        etcd_keys=sum(event.etcd_keys for event in by_id),
        etcd_bytes=sum(event.etcd_bytes for event in by_id),
        fetched=sum(event.fetched for event in by_id),
        evaluated=sum(event.evaluated for event in by_id),
        returned=sum(event.returned for event in by_id),
        seats=max(event.seats for event in by_id),
    )
    error = result.error if result.ok else by_id[-1].error or result.error
    return replace(result, measures=measures, rv=result.rv or by_id[-1].rv, error=error)
