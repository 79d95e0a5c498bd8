"""The interfaces of the parts that are plugged into the request chain, and what they exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ktui.apiserver.http.request import Request
from ktui.kube.requestinfo import RequestAttributes, RequestInfo
from ktui.kube.users import Requester

if TYPE_CHECKING:
    from ktui.kube.rbac import PolicyRule

MOST_LOGGED_BYTES = 10 * 1024 * 1024  # upstream's --audit-log-truncate-max-batch-size


class Decision(NamedTuple):
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

    def confirm_grant(
        self,
        who: Requester,
        info: RequestInfo,
        new: dict[str, Any],
        old: dict[str, Any] | None,
        granted: Iterable[PolicyRule] | None = None,
    ) -> None:
        """Raise StatusError 403 if the role or binding `new` grants rights that `who` does not have.

        `granted` are the rules of a binding's role; without them StatusError 404 for an unknown role.
        """
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
