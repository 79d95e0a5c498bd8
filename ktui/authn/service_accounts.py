"""Tokens of service accounts: signed by the server, verified against the stored account."""

from __future__ import annotations

import base64
import hashlib
import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.negotiation import JSON, acceptable
from ktui.apiserver.pages.router import Page
from ktui.kube.resources import BUILTIN
from ktui.kube.status import not_acceptable
from ktui.kube.users import AUTHENTICATED, SERVICE_ACCOUNT, Requester, service_account_groups

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry
    from ktui.storage.objects import StoredObject

ISSUER = "https://kubernetes.default.svc"
ALGORITHM = "ES256"
LEEWAY_SECONDS = 60  # kube-apiserver's, for clocks that differ or are set
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
POD_NAME, POD_UID = "authentication.kubernetes.io/pod-name", "authentication.kubernetes.io/pod-uid"
BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class InvalidToken(Exception):
    """The token is not a service account's, or its account or bound object no longer exists."""


@dataclass(frozen=True, slots=True)
class CheckedToken:
    user: Requester
    audiences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoundObject:
    """The object whose deletion invalidates a token; `kind` is "" for a token that is not bound."""

    kind: str = ""
    name: str = ""
    uid: str = ""


class ServiceAccountTokens:
    """Signs and verifies tokens; `key` None: a new key, valid as long as the server runs."""

    def __init__(self, registry: Registry, key: ec.EllipticCurvePrivateKey | None = None) -> None:
        self._registry = registry
        self._key = key or ec.generate_private_key(ec.SECP256R1())
        public = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self._key_id = base64.urlsafe_b64encode(hashlib.sha256(public).digest()).rstrip(b"=").decode()

    def sign(
        self, account: StoredObject, audiences: tuple[str, ...], seconds: int, bound: BoundObject
    ) -> tuple[str, int]:
        """Return a token of the account, and its expiry time (Unix seconds)."""
        now = int(time.time())
        about: dict[str, Any] = {
            "namespace": account.namespace,
            "serviceaccount": {"name": account.name, "uid": account.uid},
        }
        if bound.kind:
            about[bound.kind.lower()] = {"name": bound.name, "uid": bound.uid}
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "jti": str(uuid.uuid4()),
            "kubernetes.io": about,
            "nbf": now,
            "sub": f"{SERVICE_ACCOUNT}{account.namespace}:{account.name}",
        }
        return jwt.encode(claims, self._key, ALGORITHM, {"kid": self._key_id}), now + seconds

    async def check(self, token: str, audiences: tuple[str, ...] = (ISSUER,)) -> CheckedToken:
        """Return the account's user if account and bound object still exist; raise InvalidToken."""
        try:
            claims = jwt.decode(
                token,
                self._key.public_key(),
                [ALGORITHM],
                audience=list(audiences),
                issuer=ISSUER,
                leeway=LEEWAY_SECONDS,
            )
        except jwt.InvalidTokenError as error:
            raise InvalidToken(str(error)) from error
        about = claims["kubernetes.io"]
        namespace, account = about["namespace"], about["serviceaccount"]
        await self._still_there("serviceaccounts", namespace, account)
        extra = {CREDENTIAL_ID: [f"JTI={claims['jti']}"]}
        for kind, resource in BOUND.items():
            if (bound := about.get(kind.lower())) is not None:
                await self._still_there(resource, "" if kind == "Node" else namespace, bound)
                if kind == "Pod":
                    extra |= {POD_NAME: [bound["name"]], POD_UID: [bound["uid"]]}
        groups = (*service_account_groups(namespace), AUTHENTICATED)
        user = Requester(claims["sub"], groups, account["uid"], extra)
        return CheckedToken(user, tuple(name for name in claims["aud"] if name in audiences))

    async def _still_there(self, name: str, namespace: str, wanted: dict[str, str]) -> None:
        found = await self.find(name, namespace, wanted["name"])
        if found is None or found.uid != wanted["uid"]:
            raise InvalidToken(f"{name} {namespace}/{wanted['name']} is no longer there")

    async def find(self, name: str, namespace: str, wanted: str) -> StoredObject | None:
        """Return a stored object of a core resource from its cache, None if it does not exist."""
        resource = BUILTIN.find("", "v1", name)
        assert resource is not None
        return (await self._registry.for_resource(resource).get(namespace or None, wanted, "0")).object

    def discovery(self, keys_url: str) -> dict[str, Any]:
        """Return the document of /.well-known/openid-configuration."""
        return {
            "issuer": ISSUER,
            "jwks_uri": keys_url,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
        }

    def keys(self) -> dict[str, Any]:
        """Return the document of /openid/v1/jwks."""
        numbers = self._key.public_key().public_numbers()
        x, y = (
            base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()
            for number in (numbers.x, numbers.y)
        )
        key = {"use": "sig", "kty": "EC", "kid": self._key_id, "crv": "P-256", "alg": ALGORITHM}
        return {"keys": [key | {"x": x, "y": y}]}


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
