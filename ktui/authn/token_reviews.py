"""SelfSubjectReview, TokenReview, and TokenRequest for a service account."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.authn.authenticator import TokenAuthenticator
from ktui.authn.service_accounts import BOUND, BoundObject, InvalidToken
from ktui.kube.fielderrors import invalid, invalid_object
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import bad_request, conflict, not_found
from ktui.writes.create import check_namespace
from ktui.writes.decoding.typed_objects import warn
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.request_body import answer_review, sent_review
from ktui.writes.validation.values.checks import inside
from ktui.writes.validation.values.volumes import token_lifetime

TOKEN_REQUEST = Resource(
    "authentication.k8s.io", "v1", "tokenrequests", "TokenRequest", "tokenrequest", namespaced=True
)
HOUR = 3600


class AuthenticationReviews:
    """Handlers of POST, one for each review."""

    def __init__(self, authenticator: TokenAuthenticator) -> None:
        self._authenticator = authenticator
        self._accounts = authenticator.accounts

    async def of_myself(self, server: Server, call: Call, resource: Resource) -> None:
        """SelfSubjectReview: the user as the server sees it (`kubectl auth whoami`)."""
        form, review = await sent_review(server, call, resource)
        review["metadata"] = {"creationTimestamp": timestamp()}
        review["status"] = {"userInfo": call.who.document()}
        await answer_review(server, call, resource, review, form)

    async def of_token(self, server: Server, call: Call, resource: Resource) -> None:
        """TokenReview: the user of a token, for one of the requested audiences."""
        form, review = await sent_review(server, call, resource)
        spec = review.setdefault("spec", {})
        token = spec.get("token") or ""
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        review["status"] = await self._status(token, tuple(spec.get("audiences") or ()))
        await answer_review(server, call, resource, review, form)

    async def _status(self, token: str, audiences: tuple[str, ...]) -> Obj:
        try:
            found = await self._authenticator.of_token(token, audiences)
        except InvalidToken as error:
            why = f"[invalid bearer token, {error}]" if str(error) else "invalid bearer token"
            return {"user": {}, "error": why}
        status: Obj = {"authenticated": True, "user": found.user.document()}
        return status | ({"audiences": list(found.audiences)} if found.audiences else {})

    async def new_token(self, server: Server, call: Call, resource: Resource) -> None:
        """POST serviceaccounts/NAME/token (`kubectl create token`). StatusError 400, 404, 409, 422."""
        kind = TOKEN_REQUEST
        form, request = await sent_review(server, call, kind, "token", _last_an_hour)
        namespace, name = call.info.namespace, call.info.name
        await check_namespace(server, resource, namespace, {"metadata": {"name": name}})
        metadata = metadata_of(request)
        if (given := metadata.get("name", name)) != name:
            why = "must match the service account name if specified"
            raise invalid_object(kind.kind, kind.group, name, [invalid("metadata.name", given, why)])
        account = await self._accounts.find("serviceaccounts", namespace, name)
        if account is None:
            raise not_found(resource, name)
        if (given := metadata.get("uid", account.uid)) != account.uid:
            _refuse_other_account(call, name, given, account.uid)
        spec = request.setdefault("spec", {})
        spec["audiences"] = list(spec.get("audiences") or self._accounts.audiences)
        seconds = spec["expirationSeconds"]
        if errors := [*inside("spec.expirationSeconds", token_lifetime(seconds))]:
            raise invalid_object(kind.kind, kind.group, "", errors)
        spec["boundObjectRef"] = reference = spec.get("boundObjectRef") or None
        bound = await self._bound(name, namespace, reference) if reference else BoundObject()
        token, expires, call.issued = self._accounts.sign(
            account, tuple(spec["audiences"]), int(seconds), bound
        )
        ends = timestamp(datetime.fromtimestamp(expires, UTC))
        request["status"] = {"token": token, "expirationTimestamp": ends}
        own = {"name": name, "namespace": namespace, "uid": account.uid}
        request["metadata"] = {**own, **metadata, "creationTimestamp": timestamp()}
        await answer_review(server, call, kind, request, form)

    async def _bound(self, account: str, namespace: str, reference: Obj) -> BoundObject:
        kind, name = reference.get("kind") or "", reference.get("name") or ""
        api_version = reference.get("apiVersion") or ""
        group, _, version = ("" if api_version.count("/") > 1 else api_version).rpartition("/")
        if kind not in BOUND or group:
            raise bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
        resource = builtin("", BOUND[kind])
        if not name:
            raise bad_request("Name parameter required.")
        found = await self._accounts.find(BOUND[kind], "" if kind == "Node" else namespace, name)
        if found is None:
            raise not_found(resource, name)
        if reference.get("uid") not in (None, "", found.uid):
            why = (
                f"the UID in the bound object reference ({reference['uid']}) does not match the UID in "
                "record. The object might have been deleted and then recreated"
            )
            raise conflict(replace(resource, resource=kind), name, why)
        if kind == "Pod":
            pod: Obj = json.loads(found.full_json())
            if (pod.get("spec") or {}).get("serviceAccountName", "") != account:
                raise bad_request(
                    f"cannot bind token for serviceaccount {quote(account)} to pod running with "
                    "different serviceaccount name."
                )
            if node := (pod.get("spec") or {}).get("nodeName"):
                there = await self._accounts.find("nodes", "", node)
                about = {"name": node} | ({"uid": there.uid} if there is not None else {})
                return BoundObject(kind, name, found.uid, about)
        return BoundObject(kind, name, found.uid)


def _last_an_hour(request: Obj) -> None:
    spec = request.setdefault("spec", {})
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = HOUR


def _refuse_other_account(call: Call, name: str, given: str, uid: str) -> None:
    """Raise StatusError 409 for another account's uid; a warning before 1.34."""
    why = f"the UID in the token request ({given}) does not match the UID of the service account ({uid})"
    if call.behaviour.enabled("TokenRequestServiceAccountUIDValidation"):
        raise conflict(replace(TOKEN_REQUEST, resource=TOKEN_REQUEST.kind), name, why)
    gate = "but TokenRequestServiceAccountUIDValidation is not enabled"
    warn(call, [f"{why} {gate}. In the future, this will return a conflict error"])
