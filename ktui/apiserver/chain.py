"""What the request chain asks of the rooms that are plugged in where a server is composed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ktui.apiserver.http.request import Request
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester


@dataclass(frozen=True, slots=True)
class Decision:
    """Of an authorizer: `reason` names the binding, or says why not; "" if there is nothing to say."""

    allowed: bool
    reason: str = ""


class Authenticator(Protocol):
    """`has_token`: whether clients must send one (else there is no TLS, and web pages are kept out)."""

    @property
    def has_token(self) -> bool: ...

    async def identify(self, request: Request) -> Requester:
        """Who sends the request; StatusError 401."""
        ...


class Authorizer(Protocol):
    def decide(self, who: Requester, asked: RequestAttributes) -> Decision: ...

    def rules(self, who: Requester, namespace: str) -> dict[str, Any]:
        """The status of a SelfSubjectRulesReview."""
        ...
