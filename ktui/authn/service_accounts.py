"""Tokens of service accounts: signed, and verified against the stored account (pkg/serviceaccount)."""

from __future__ import annotations

import base64
import json
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.negotiation import JSON, acceptable
from ktui.apiserver.pages.responses import Page
from ktui.authn.keys import PrivateKey, VerificationKey
from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.resources import builtin
from ktui.kube.status import not_acceptable, path_not_found
from ktui.kube.users import AUTHENTICATED, SERVICE_ACCOUNT, Requester, service_account_groups
from ktui.storage.objects import StoredObject

ISSUER = "https://kubernetes.default.svc"
LEGACY_ISSUER = "kubernetes/serviceaccount"  # of the tokens in Secrets, which do not expire
LEGACY = "kubernetes.io/serviceaccount/"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
LEEWAY_SECONDS = 60  # kube-apiserver's, for clocks that differ or are set
# A token that a kubelet requests for a pod with this lifetime is valid for a year: older clients do not read
# the renewed one.
WARN_SECONDS, EXTENDED_SECONDS = 3607, 365 * 24 * 3600
EXTRA = "authentication.kubernetes.io/"
CREDENTIAL_ID = f"{EXTRA}credential-id"
BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class InvalidToken(Exception):
    """The token is not a service account's, or its account or bound object no longer exists."""


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """How tokens are signed and verified.

    `signing` None: with the server's own key. `keys` verify tokens besides the signing key. The first of
    `issuers` is that of new tokens, all are accepted. `audiences` are the server's own; (): its issuers.
    """

    signing: PrivateKey | None = None
    keys: tuple[VerificationKey, ...] = ()
    issuers: tuple[str, ...] = (ISSUER,)
    audiences: tuple[str, ...] = ()


class CheckedToken(NamedTuple):
    user: Requester
    audiences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoundObject:
    """The object whose deletion invalidates a token."""

    kind: str = ""  # "" for a token that is not bound
    name: str = ""
    uid: str = ""
    node: dict[str, str] | None = None  # name and uid (if it exists) of the node of a bound pod


class ServiceAccountTokens:
    """Signs and verifies tokens. Without a signing key it makes one, valid as long as the server runs."""

    def __init__(self, registry: Registry, settings: TokenSettings | None = None) -> None:
        settings = settings or TokenSettings()
        self._registry = registry
        self._key = settings.signing or ec.generate_private_key(ec.SECP256R1())
        self._signing = VerificationKey.of(self._key.public_key())
        self._keys = {key.key_id: key for key in (*settings.keys, self._signing)}
        self._issuers = settings.issuers
        self.audiences = settings.audiences or settings.issuers

    def sign(
        self, account: StoredObject, audiences: tuple[str, ...], seconds: int, bound: BoundObject
    ) -> tuple[str, int, str]:
        """Return a token of the account, until when (Unix seconds) it should be used, and its id."""
        now = int(time.time())
        about: Obj = {
            "namespace": account.namespace,
            "serviceaccount": {"name": account.name, "uid": account.uid},
        }
        lifetime = seconds
        if bound.kind:
            about[bound.kind.lower()] = {"name": bound.name, "uid": bound.uid}
        if bound.kind == "Pod":
            if bound.node:
                about["node"] = bound.node
            if seconds == WARN_SECONDS and set(audiences) <= set(self.audiences):
                lifetime, about["warnafter"] = EXTENDED_SECONDS, now + seconds
        claims = {
            "aud": list(audiences),
            "exp": now + lifetime,
            "iat": now,
            "iss": self._issuers[0],
            "jti": str(uuid.uuid4()),
            "kubernetes.io": about,
            "nbf": now,
            "sub": f"{SERVICE_ACCOUNT}{account.namespace}:{account.name}",
        }
        headers = {"kid": self._signing.key_id}
        token = jwt.encode(claims, self._key, self._signing.algorithm, headers)
        return token, now + seconds, f"JTI={claims['jti']}"

    async def check(self, token: str, audiences: tuple[str, ...] = ()) -> CheckedToken:
        """Return the user if account and bound object exist; `audiences` (): the server's. InvalidToken."""
        claims = self._verified(token)
        valid_for = _texts(claims.get("aud")) or self.audiences  # a Secret's token is for the server only
        common = tuple(name for name in valid_for if name in (audiences or self.audiences))
        if not common:
            raise InvalidToken("the token is for other audiences")
        try:
            if claims["iss"] == LEGACY_ISSUER:
                user = await self._legacy_user(claims, token)
            else:
                user = await self._user(claims)
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidToken(f"the token lacks a claim of service accounts: {error}") from error
        return CheckedToken(user, common)

    def _verified(self, token: str) -> Obj:
        """Return the claims if the signature, the issuer and the times are right."""
        try:
            wanted = str(jwt.get_unverified_header(token).get("kid") or "")
            issuer = jwt.decode(token, options={"verify_signature": False}).get("iss")
        except jwt.InvalidTokenError:
            issuer = None
        if issuer not in (*self._issuers, LEGACY_ISSUER):
            raise InvalidToken("")  # it is no token of a service account
        try:
            candidates: Sequence[VerificationKey] = list(self._keys.values())
            if wanted in self._keys:
                candidates = [self._keys[wanted]]
            return self._decoded(token, candidates)
        except jwt.InvalidTokenError as error:
            raise InvalidToken(str(error)) from error

    def _decoded(self, token: str, candidates: Sequence[VerificationKey]) -> Obj:
        refusal: jwt.InvalidTokenError = jwt.InvalidSignatureError("Signature verification failed")
        for candidate in candidates:
            key, algorithms = candidate.key, [candidate.algorithm]
            try:
                return jwt.decode(
                    token, key, algorithms, leeway=LEEWAY_SECONDS, options={"verify_aud": False}
                )
            except (jwt.InvalidSignatureError, jwt.InvalidAlgorithmError):
                continue  # signed by another key
            except jwt.InvalidTokenError as error:
                refusal = error
                break
        raise refusal

    async def _user(self, claims: Obj) -> Requester:
        about = claims["kubernetes.io"]
        namespace, account = about["namespace"], about["serviceaccount"]
        _check_subject(claims, namespace, account["name"])
        await self._still_there("serviceaccounts", namespace, account)
        extra = {CREDENTIAL_ID: [f"JTI={claims['jti']}"]} if claims.get("jti") else {}
        for kind, resource in BOUND.items():
            bound = about.get(kind.lower())
            if bound is None:
                continue
            if kind != "Node" or about.get("pod") is None:  # of a pod's node nothing is required
                await self._still_there(resource, "" if kind == "Node" else namespace, bound)
            if kind != "Secret":
                names = {f"{kind.lower()}-{member}": bound.get(member) for member in ("name", "uid")}
                extra |= {EXTRA + name: [value] for name, value in names.items() if value}
        return _user_of(claims["sub"], namespace, account["uid"], extra)

    async def _legacy_user(self, claims: Obj, token: str) -> Requester:
        """The user of a token in a Secret of type kubernetes.io/service-account-token, which must have it."""
        namespace, secret = claims[f"{LEGACY}namespace"], claims[f"{LEGACY}secret.name"]
        account = {member: claims[f"{LEGACY}service-account.{member}"] for member in ("name", "uid")}
        _check_subject(claims, namespace, account["name"])
        found = await self.find("secrets", namespace, secret)
        stored = json.loads(found.full_json()) if found is not None else {}
        if not stored or stored["metadata"].get("deletionTimestamp"):
            raise InvalidToken("Token has been invalidated")
        if base64.b64decode((stored.get("data") or {}).get("token") or "") != token.encode():
            raise InvalidToken("Token does not match server's copy")
        if INVALID_SINCE in (stored["metadata"].get("labels") or {}):
            raise InvalidToken(f"the token in secret {namespace}/{secret} has been marked invalid")
        await self._still_there("serviceaccounts", namespace, account)
        return _user_of(claims["sub"], namespace, account["uid"], {})

    async def _still_there(self, name: str, namespace: str, wanted: dict[str, str]) -> None:
        found = await self.find(name, namespace, wanted["name"])
        if found is None or found.uid != wanted["uid"]:
            raise InvalidToken(f"{name} {namespace}/{wanted['name']} is no longer there")

    async def find(self, name: str, namespace: str, wanted: str) -> StoredObject | None:
        """Return a stored object of a core resource from its cache, None if it does not exist."""
        resource = builtin("", name)
        return (await self._registry.for_resource(resource).get(namespace or None, wanted, "0")).object

    @property
    def is_discoverable(self) -> bool:
        """True if other systems can find the documents: the issuer is an https URL."""
        return self._issuers[0].startswith("https://")

    def discovery(self, keys_url: str) -> Obj:
        """Return the document of /.well-known/openid-configuration."""
        return {
            "issuer": self._issuers[0],
            "jwks_uri": keys_url,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": sorted({key.algorithm for key in self._keys.values()}),
        }

    def keys(self) -> Obj:
        return {"keys": [key.jwk() for key in self._keys.values()]}


def _texts(value: object) -> tuple[str, ...]:
    """The `aud` of a token: a text or a list of texts."""
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()


def _check_subject(claims: Obj, namespace: str, account: str) -> None:
    if claims["sub"] != f"{SERVICE_ACCOUNT}{namespace}:{account}":
        raise InvalidToken("sub claim is invalid")


def _user_of(name: str, namespace: str, uid: str, extra: dict[str, list[str]]) -> Requester:
    return Requester(name, (*service_account_groups(namespace), AUTHENTICATED), uid, extra)


CONFIGURATION, KEYS = "/.well-known/openid-configuration", "/openid/v1/jwks"
KEY_SET = "application/jwk-set+json"


def pages(accounts: ServiceAccountTokens) -> dict[str, Page]:
    """Return the pages of the two documents by path; 404 without an https issuer, as upstream."""

    def page(media_type: str, document: Callable[[Request], Obj]) -> Page:
        async def answer(request: Request, response: Response) -> None:
            if not accounts.is_discoverable:
                raise path_not_found()
            if not acceptable(request.accept, media_type):
                raise not_acceptable((media_type,))
            response.replace_header(b"cache-control", b"public, max-age=3600")
            body = json.dumps(document(request), separators=(",", ":")).encode()
            await response.whole(200, media_type, body)

        return answer

    def configuration(request: Request) -> Obj:
        return accounts.discovery(f"https://{request.headers.get('host', 'localhost')}{KEYS}")

    return {CONFIGURATION: page(JSON, configuration), KEYS: page(KEY_SET, lambda _: accounts.keys())}
