"""Results of the request chain, and the interfaces of the parts that are plugged into it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ktui.apiserver.http.request import Request
from ktui.contract.events import ChainStage
from ktui.kube.requestinfo import RequestAttributes, RequestInfo
from ktui.kube.users import Requester

if TYPE_CHECKING:
    from ktui.apiserver.flow_control import FlowTicket
    from ktui.apiserver.http.response import Response
    from ktui.kube.flowcontrol import FlowSchema
    from ktui.telemetry.meter import Meter


MOST_LOGGED_BYTES = 10 * 1024 * 1024  # upstream's --audit-log-truncate-max-batch-size


@dataclass(frozen=True, slots=True)
class Decision:
    """An authorizer's decision. `reason` names the binding, or why the request is denied; "" without one."""

    allowed: bool
    reason: str = ""


class Authenticator(Protocol):
    """Authenticates requests.

    `has_token`: clients must send a token. Without one there is no TLS, and requests of web pages are
    refused.
    """

    @property
    def has_token(self) -> bool: ...

    async def identify(self, request: Request) -> Requester:
        """Return the user who sends the request; raise StatusError 401."""
        ...


class Authorizer(Protocol):
    def decide(self, who: Requester, attributes: RequestAttributes) -> Decision: ...

    def rules(self, who: Requester, namespace: str) -> dict[str, Any]:
        """Return the status of a SelfSubjectRulesReview."""
        ...


@dataclass(slots=True)
class LoggedObjects:
    """The objects of a request and of its response, for a log that keeps them.

    `request` is a tree, `response` JSON text. `responds` is False for a log that keeps the request only.
    `truncated`: one exceeds MOST_LOGGED_BYTES, and is left out.
    """

    responds: bool
    request: Any = None
    response: bytes | None = None
    truncated: bool = False
    request_size: int = 0

    @property
    def size(self) -> int:
        """Bytes of both."""
        return self.request_size + len(self.response or b"")

    def asked(self, tree: Any, size: int) -> None:
        if size > MOST_LOGGED_BYTES:
            self.truncated = True
        else:
            self.request, self.request_size = tree, size

    def answered(self, document: bytes) -> None:
        """Keep a complete response, given as JSON."""
        if self.responds:
            self.truncated = self.truncated or len(document) > MOST_LOGGED_BYTES
            self.response = document if len(document) <= MOST_LOGGED_BYTES else None

    def copied(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the chunks of a JSON response, and keep a copy."""
        kept: list[bytes] | None = []
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if kept is not None and size <= MOST_LOGGED_BYTES:
                kept.append(chunk)
            else:
                kept = None
            yield chunk
        self.truncated = self.truncated or kept is None
        self.response = b"".join(kept) if kept is not None else None


@dataclass(slots=True)
class ChainRecord:
    """Results of the request chain for one request; the request logs are written from them.

    `who` is the authenticated user, None until authentication has passed; `acting` is the impersonated user,
    or `who`. `sent` is the metadata of the object in the body. `status` is the Status in the response: of an
    error or of a deletion. `panicked` is the unexpected exception of the handler. `received` is in Unix
    seconds.
    """

    request: Request
    response: Response
    info: RequestInfo
    verb: str
    audit_id: str
    who: Requester | None = None
    acting: Requester | None = None
    flow: FlowSchema | None = None
    decision: Decision | None = None
    status: dict[str, Any] | None = None
    sent: Mapping[str, Any] = field(default_factory=dict)
    panicked: str = ""
    objects: LoggedObjects | None = None
    ticket: FlowTicket | None = None
    meter: Meter | None = None
    stages: list[ChainStage] = field(default_factory=list)
    received: float = field(default_factory=time.time)
    started: float = field(default_factory=time.perf_counter)
    _mark: float = field(default_factory=time.perf_counter)

    def passed(self, stage: str, decision: str) -> None:
        """End a stage; its time began with the end of the previous stage."""
        now = time.perf_counter()
        self.stages.append(ChainStage(stage, decision, (now - self._mark) * 1000.0))
        self._mark = now

    def refused(self, why: str) -> None:
        """End the stage that refuses the request, with the reason `why`."""
        if self.who is None:
            stage = "authentication"
        elif self.acting is None:
            stage = "impersonation"
        else:
            stage = "flow control" if self.decision is None else "authorization"
        self.passed(stage, f"refused: {why}")

    def resume(self) -> None:
        """Start the time of the next stage now: the time since the last stage does not count."""
        self._mark = time.perf_counter()


class RequestLog(Protocol):
    """A log of requests: audit log or httplog."""

    async def received(self, record: ChainRecord) -> None:
        """Log a request whose user is known."""
        ...

    def response_started(self, record: ChainRecord) -> None:
        """Log that the headers of a long-running request have been sent."""
        ...

    async def finished(self, record: ChainRecord) -> None:
        """Log that the response is complete or was broken off."""
        ...
