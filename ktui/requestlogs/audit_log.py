"""`--audit-log-path`: write an Event for each stage of each request that the policy selects.

Upstream: endpoints/filters/audit.go.
"""

from __future__ import annotations

import time

import msgspec

from ktui.apiserver.chain import ChainRecord
from ktui.kube.requestinfo import RequestAttributes, attributes_of, rules_verb
from ktui.requestlogs.audit_events import event_of
from ktui.requestlogs.audit_objects import keep_objects, with_objects
from ktui.requestlogs.audit_policy import AuditPolicy
from ktui.requestlogs.log_writer import LogWriter

_encode = msgspec.json.Encoder().encode


class AuditLog:
    """A RequestLog of kube-apiserver 1.`minor`."""

    def __init__(self, writer: LogWriter, policy: AuditPolicy, minor: int) -> None:
        self._writer = writer
        self._policy = policy
        self._minor = minor

    async def received(self, record: ChainRecord) -> None:
        await self._writer.wait_for_room()
        keep_objects(record, self._policy.decide(record.who, _attributes_of(record)).level)
        self._write(record, "RequestReceived")

    def response_started(self, record: ChainRecord) -> None:
        if record.who is not None:
            self._write(record, "ResponseStarted")

    async def finished(self, record: ChainRecord) -> None:
        """Write the last Event, which is the only one of a request whose authentication failed."""
        if record.who is None:
            self._write(record, "ResponseStarted")
        else:
            self._write(record, "Panic" if record.panicked else "ResponseComplete")
        await self._writer.wait_for_room()

    def _write(self, record: ChainRecord, stage: str) -> None:
        attributes = _attributes_of(record)
        audited = self._policy.decide(record.who, attributes)
        if audited.level == "None" or stage in audited.omitted:
            return
        event = event_of(record, attributes, audited.level, stage, time.time(), self._minor)
        self._writer.put(
            lambda: _encode(with_objects(event, record, unmanaged=audited.unmanaged)) + b"\n",
            record.objects.size if record.objects is not None else 0,
        )


def _attributes_of(record: ChainRecord) -> RequestAttributes:
    return attributes_of(record.info, rules_verb(record.info, record.verb))
