"""Who sends a request: tokens of the server, of a file, of service accounts; `kubectl --as`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import httpx
import jwt
import pytest

from ktui.authn import service_accounts
from ktui.etcd.client import EtcdClient
from ktui.kube.users import AUTHENTICATED, Requester
from tests.etcd.apiserver.conftest import TOKEN, Api, running

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

JANE = Requester("jane", ("developers", AUTHENTICATED), "17")
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCOUNTS = "/api/v1/namespaces/a/serviceaccounts"


@pytest.fixture
async def api(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    async with running(client, prefix, users={"janes": JANE}) as found:
        for path, name in (("/api/v1/namespaces", "a"), (ACCOUNTS, "builder")):
            made = await found.create(path, {"metadata": {"name": name}})
            assert made.status_code == 201, made.text
        yield found


async def who(api: Api, **headers: str) -> httpx.Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await api.http.post(WHO, json={}, headers=sent)


async def who_once(status: int, api: Api, token: str) -> httpx.Response:
    """`who` with a token, once answered so: accounts and what tokens are bound to come from caches."""
    async with asyncio.timeout(60):
        while (answer := await who(api, authorization=f"Bearer {token}")).status_code != status:
            pass
    return answer


async def token(api: Api, name: str = "builder", **spec: Any) -> httpx.Response:
    return await api.http.post(f"{ACCOUNTS}/{name}/token", json={"spec": spec})


def user_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()["status"]["userInfo"]
    return found


async def test_whoami(api: Api) -> None:
    groups = ["system:masters", "system:authenticated"]
    answer = await who(api)
    assert user_of(answer) == {"username": "admin", "groups": groups}
    assert answer.json()["kind"] == "SelfSubjectReview"
    jane = {"username": "jane", "uid": "17", "groups": ["developers", "system:authenticated"]}
    assert user_of(await who(api, authorization="Bearer janes")) == jane


@pytest.mark.parametrize("header", ["", "Basic x", "Bearer", f"Bearer  {TOKEN}"])
async def test_no_token_is_anonymous(api: Api, header: str) -> None:
    """Two spaces before it, and upstream does not see the token either."""
    answer = await who(api, authorization=header)
    assert (answer.status_code, answer.json()["message"]) == (
        403,
        'selfsubjectreviews.authentication.k8s.io is forbidden: User "system:anonymous" cannot create '
        'resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
    )
    spaced = "the provided Authorization header contains extra space before the bearer token, and is ignored"
    assert answer.headers.get("warning") == (f'299 - "{spaced}"' if "  " in header else None)


@pytest.mark.parametrize("header", ["Bearer wrong", "bearer a.b.c", f"Bearer {TOKEN}x"])
async def test_a_wrong_token_is_401(api: Api, header: str) -> None:
    assert (await who(api, authorization=header)).status_code == 401


async def test_a_service_account_s_token(api: Api) -> None:
    kubectl = await token(api, expirationSeconds=None, audiences=None, boundObjectRef=None)
    assert (kubectl.status_code, kubectl.json()["spec"]["expirationSeconds"]) == (201, 3600)
    answer = await token(api, expirationSeconds=900)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["kind"], found["metadata"]["name"], found["spec"]["expirationSeconds"]) == (
        "TokenRequest",
        "builder",
        900,
    )
    sent = found["status"]["token"]
    claims = jwt.decode(sent, options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == 900
    assert claims["sub"] == "system:serviceaccount:a:builder"
    account = (await api.http.get(f"{ACCOUNTS}/builder")).json()
    user = user_of(await who_once(201, api, sent))
    assert user == {
        "username": "system:serviceaccount:a:builder",
        "uid": account["metadata"]["uid"],
        "groups": ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]},
    }
    review = (await api.http.post(REVIEW, json={"spec": {"token": sent}})).json()
    assert review["status"]["authenticated"] and review["status"]["user"] == user
    wrong = (await api.http.post(REVIEW, json={"spec": {"token": sent, "audiences": ["vault"]}})).json()
    assert "authenticated" not in wrong["status"] and "invalid bearer token" in wrong["status"]["error"]
    deleted = await api.http.delete(f"{ACCOUNTS}/builder")
    assert deleted.status_code == 200
    await who_once(401, api, sent)


@pytest.mark.parametrize(
    ("clock", "status"), [(-930, 201), (-1000, 401), (+30, 201), (+100, 401)]
)  # of a token for 900 s: kube-apiserver allows for a minute
async def test_a_token_when_the_clock_is_set(
    api: Api, monkeypatch: pytest.MonkeyPatch, clock: float, status: int
) -> None:
    now = time.time()
    with monkeypatch.context() as signing:
        signing.setattr(service_accounts, "time", SimpleNamespace(time=lambda: now + clock))
        made = await token(api, expirationSeconds=900)
    assert made.status_code == 201, made.text
    sent = made.json()["status"]["token"]
    await who_once(status, api, sent)


async def test_others_can_check_the_token(api: Api) -> None:
    sent = (await token(api, audiences=["vault"])).json()["status"]["token"]
    found = (await api.http.get("/.well-known/openid-configuration")).json()
    assert found["jwks_uri"].endswith("/openid/v1/jwks")
    answer = await api.http.get("/openid/v1/jwks")
    assert answer.headers["content-type"] == "application/jwk-set+json"
    assert answer.headers["cache-control"] == "public, max-age=3600"
    key = jwt.PyJWK(answer.json()["keys"][0])
    claims = jwt.decode(sent, key, ["ES256"], audience="vault", issuer=found["issuer"])
    assert claims["kubernetes.io"]["serviceaccount"]["name"] == "builder"


async def test_a_token_ends_with_its_pod(api: Api) -> None:
    spec = {"serviceAccountName": "builder", "containers": [{"name": "c", "image": "i"}]}
    made = await api.create("/api/v1/namespaces/a/pods", {"metadata": {"name": "p"}, "spec": spec})
    assert made.status_code == 201, made.text
    answer = await token(api, boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "p"})
    assert answer.status_code == 201, answer.text
    sent = answer.json()["status"]["token"]
    user = user_of(await who_once(201, api, sent))
    assert user["extra"]["authentication.kubernetes.io/pod-name"] == ["p"]
    await api.http.delete("/api/v1/namespaces/a/pods/p", params={"gracePeriodSeconds": 0})
    await who_once(401, api, sent)


@pytest.mark.parametrize(
    ("name", "spec", "status", "message"),
    [
        ("gone", {}, 404, 'serviceaccounts "gone" not found'),
        (
            "builder",
            {"expirationSeconds": 30},
            422,
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: '
            "Invalid value: 30: may not specify a duration less than 10 minutes",
        ),
        ("builder", {"boundObjectRef": {"kind": "Pod", "name": "q"}}, 404, 'pods "q" not found'),
    ],
)
async def test_tokens_that_are_refused(
    api: Api, name: str, spec: dict[str, Any], status: int, message: str
) -> None:
    answer = await token(api, name, **spec)
    assert (answer.status_code, answer.json()["message"]) == (status, message)


async def test_impersonation(api: Api) -> None:
    headers = [
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "qa"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-Scopes", "view"),
    ]
    answer = await api.http.post(WHO, json={}, headers=[*api.http.headers.items(), *headers])
    assert user_of(answer) == {
        "username": "bob",
        "groups": ["qa", "ops", "system:authenticated"],
        "extra": {"scopes": ["view"]},
    }
    alone = await who(api, impersonate_uid="7")
    assert alone.status_code == 400 and 'UID:"7"' in alone.json()["message"]
    account = await who(api, impersonate_user="system:serviceaccount:a:builder")
    assert "system:serviceaccounts:a" in user_of(account)["groups"]


async def test_reviews_are_only_created(api: Api) -> None:
    for path in (WHO, REVIEW, f"{ACCOUNTS}/builder/token"):
        assert (await api.http.get(path)).status_code == 405
    assert json.loads((await api.http.post(REVIEW, json={})).text)["code"] == 400
