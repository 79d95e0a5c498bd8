"""OIDC discovery, with which other systems verify the tokens of service accounts."""

from __future__ import annotations

import json

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.negotiation import JSON, acceptable
from ktui.apiserver.pages.router import Page
from ktui.authn.service_accounts import ServiceAccountTokens
from ktui.kube.status import not_acceptable

CONFIGURATION, KEYS = "/.well-known/openid-configuration", "/openid/v1/jwks"
KEY_SET = "application/jwk-set+json"


def pages(accounts: ServiceAccountTokens) -> dict[str, Page]:
    """Return the pages of the two documents by path."""

    async def configuration(request: Request, response: Response) -> None:
        address = f"https://{request.headers.get('host', 'localhost')}"
        await _send(request, response, JSON, accounts.discovery(address + KEYS))

    async def keys(request: Request, response: Response) -> None:
        await _send(request, response, KEY_SET, accounts.keys())

    return {CONFIGURATION: configuration, KEYS: keys}


async def _send(request: Request, response: Response, media_type: str, document: object) -> None:
    if not acceptable(request.accept, media_type):
        raise not_acceptable((media_type,))
    response.replace_header("cache-control", "public, max-age=3600")
    await response.whole(200, media_type, json.dumps(document, separators=(",", ":")).encode())
