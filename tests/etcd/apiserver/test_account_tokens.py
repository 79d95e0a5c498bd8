"""Tokens of service accounts that other programs sign or verify: key files, issuers, audiences, Secrets."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from ktui.authn.keys import PrivateKey, VerificationKey
from ktui.authn.service_accounts import TokenSettings
from ktui.etcd.client import EtcdClient
from tests.etcd.apiserver.conftest import Api, running

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
A = "/api/v1/namespaces/a"
ACCOUNT = f"{A}/serviceaccounts/builder"
NAME = "system:serviceaccount:a:builder"
ISSUER, FORMER = "https://issuer.example", "https://former.example"
SIGNING = rsa.generate_private_key(65537, 2048)
OF_THE_MANAGER, OF_A_STRANGER = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
YEAR = 365 * 24 * 3600


@pytest.fixture
async def api(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    """A server with its own RSA key, which also verifies by the controller manager's."""
    keys = tuple(VerificationKey.of(key.public_key()) for key in (OF_THE_MANAGER, SIGNING))
    settings = TokenSettings(SIGNING, keys, (ISSUER, FORMER), ("api", "vault"))
    async with running(client, prefix, tokens=settings) as found:
        for path, name in (("/api/v1/namespaces", "a"), (f"{A}/serviceaccounts", "builder")):
            made = await found.create(path, {"metadata": {"name": name}})
            assert made.status_code == 201, made.text
        yield found


async def who_once(status: int, api: Api, token: str) -> dict[str, Any]:
    """Who a token is, once answered so: accounts and Secrets come from caches."""
    async with asyncio.timeout(60):
        while (answer := await _who(api, token)).status_code != status:
            pass
    return dict(answer.json())


async def _who(api: Api, token: str) -> httpx.Response:
    return await api.http.post(WHO, json={}, headers={"authorization": f"Bearer {token}"})


async def requested(api: Api, **spec: Any) -> dict[str, Any]:
    answer = await api.http.post(f"{ACCOUNT}/token", json={"spec": spec})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def signed(key: PrivateKey, claims: dict[str, Any], kid: str | None = None) -> str:
    algorithm = VerificationKey.of(key.public_key()).algorithm
    return jwt.encode(claims, key, algorithm, {"kid": kid} if kid else None)


async def bound_claims(api: Api, **changed: Any) -> dict[str, Any]:
    account = (await api.get(ACCOUNT)).json()["metadata"]
    now = int(time.time())
    about = {"namespace": "a", "serviceaccount": {"name": "builder", "uid": account["uid"]}}
    claims = {"aud": ["api"], "iss": ISSUER, "sub": NAME, "iat": now, "nbf": now, "exp": now + 600}
    return {**claims, "jti": "1", "kubernetes.io": about, **changed}


async def test_new_tokens_have_the_key_the_issuer_and_the_audiences(api: Api) -> None:
    token = (await requested(api))["status"]["token"]
    (key,) = [key for key in (await api.get("/openid/v1/jwks")).json()["keys"] if key["alg"] == "RS256"]
    claims = jwt.decode(token, jwt.PyJWK(key), ["RS256"], audience="api", issuer=ISSUER)
    assert claims["aud"] == ["api", "vault"]
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "kid": key["kid"], "typ": "JWT"}
    await who_once(201, api, token)
    found = (await api.get("/.well-known/openid-configuration")).json()
    assert (found["issuer"], found["id_token_signing_alg_values_supported"]) == (ISSUER, ["ES256", "RS256"])


@pytest.mark.parametrize("changed", [{}, {"iss": FORMER}, {"aud": "vault"}, {"aud": ["x", "api"]}])
async def test_tokens_of_other_servers_are_accepted(api: Api, changed: dict[str, Any]) -> None:
    token = signed(OF_THE_MANAGER, await bound_claims(api, **changed))
    assert (await who_once(201, api, token))["status"]["userInfo"]["username"] == NAME


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://other.example"}, {"iss": ""}, {"aud": ["x"]}, {"sub": "system:serviceaccount:a:x"},
        {"exp": 1}, {"kubernetes.io": {}}, {"kubernetes.io": None}, {"kubernetes.io": "x"},
    ],
)  # fmt: skip
async def test_tokens_that_are_not_accepted(api: Api, changed: dict[str, Any]) -> None:
    await who_once(201, api, signed(OF_THE_MANAGER, await bound_claims(api)))
    assert (await _who(api, signed(OF_THE_MANAGER, await bound_claims(api, **changed)))).status_code == 401


async def test_a_key_that_was_not_named_signs_nothing(api: Api) -> None:
    claims = await bound_claims(api)
    await who_once(201, api, signed(OF_THE_MANAGER, claims))
    known = VerificationKey.of(OF_THE_MANAGER.public_key()).key_id
    for token in (signed(OF_A_STRANGER, claims), signed(OF_A_STRANGER, claims, known)):
        assert (await _who(api, token)).status_code == 401
    unsigned = jwt.encode(claims, None, "none")  # type: ignore[arg-type]
    assert (await _who(api, unsigned)).status_code == 401


async def test_a_review_names_the_audiences_in_common(api: Api) -> None:
    token = (await requested(api, audiences=["vault", "x"]))["status"]["token"]
    await who_once(201, api, token)

    async def reviewed(*audiences: str) -> dict[str, Any]:
        spec = {"token": token, "audiences": list(audiences)}
        return dict((await api.http.post(REVIEW, json={"spec": spec})).json()["status"])

    assert (await reviewed("x", "y"))["audiences"] == ["x"]
    assert (await reviewed())["audiences"] == ["vault"]
    assert "authenticated" not in await reviewed("api")


async def test_a_kubelet_s_token_names_its_node_and_lives_a_year(api: Api) -> None:
    node = await api.create("/api/v1/nodes", {"metadata": {"name": "n"}})
    spec = {"serviceAccountName": "builder", "nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    made = await api.create(f"{A}/pods", {"metadata": {"name": "p"}, "spec": spec})
    assert made.status_code == 201, made.text
    await api.seen(node.json(), "nodes")
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": made.json()["metadata"]["uid"]}
    answer = await requested(api, boundObjectRef=reference, expirationSeconds=3607)
    claims = jwt.decode(answer["status"]["token"], options={"verify_signature": False})
    about = claims["kubernetes.io"]
    assert about["node"] == {"name": "n", "uid": node.json()["metadata"]["uid"]}
    assert claims["exp"] - claims["iat"] == YEAR
    assert about["warnafter"] - claims["iat"] == 3607
    user = (await who_once(201, api, answer["status"]["token"]))["status"]["userInfo"]
    assert user["extra"]["authentication.kubernetes.io/node-name"] == ["n"]
    elsewhere = await requested(api, boundObjectRef=reference, expirationSeconds=3607, audiences=["x"])
    claims = jwt.decode(elsewhere["status"]["token"], options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == 3607


async def secret_with_token(api: Api, **changed: Any) -> tuple[str, dict[str, Any]]:
    """A Secret as the controller manager's tokens controller fills it; return its token, and the Secret."""
    account = (await api.get(ACCOUNT)).json()["metadata"]
    member = "kubernetes.io/serviceaccount/"
    claims = {
        "iss": "kubernetes/serviceaccount",
        f"{member}namespace": "a",
        f"{member}secret.name": "builder-token",
        f"{member}service-account.name": "builder",
        f"{member}service-account.uid": account["uid"],
        "sub": NAME,
        **changed,
    }
    token = signed(OF_THE_MANAGER, claims)
    annotations = {
        "kubernetes.io/service-account.name": "builder",
        "kubernetes.io/service-account.uid": account["uid"],
    }
    secret = {
        "metadata": {"name": "builder-token", "annotations": annotations},
        "type": "kubernetes.io/service-account-token",
        "data": {"token": base64.b64encode(token.encode()).decode(), "namespace": "YQ==", "ca.crt": ""},
    }
    made = await api.create(f"{A}/secrets", secret)
    assert made.status_code == 201, made.text
    return token, made.json()


async def test_the_token_of_a_secret(api: Api) -> None:
    token, secret = await secret_with_token(api)
    user = (await who_once(201, api, token))["status"]["userInfo"]
    assert user["username"] == NAME and "extra" not in user
    path = f"{A}/secrets/builder-token"
    mark = {"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": "2026-01-01"}}}
    await api.merge(path, mark)
    await who_once(401, api, token)
    await api.merge(path, {"metadata": {"labels": None}})
    await who_once(201, api, token)
    await api.merge(path, {"data": {"token": "eA=="}})
    await who_once(401, api, token)
    await api.merge(path, {"data": {"token": secret["data"]["token"]}})
    await who_once(201, api, token)
    await api.delete(path)
    await who_once(401, api, token)


@pytest.mark.parametrize(
    "changed",
    [{"sub": "system:serviceaccount:a:x"}, {"kubernetes.io/serviceaccount/service-account.uid": "0"}],
)
async def test_a_secret_s_token_of_another_account(api: Api, changed: dict[str, Any]) -> None:
    token, secret = await secret_with_token(api, **changed)
    assert await api.cacher("secrets").ready()
    await api.seen(secret, "secrets")
    assert (await _who(api, token)).status_code == 401


async def test_without_an_https_issuer_nothing_is_discovered(client: EtcdClient, prefix: str) -> None:
    async with running(client, prefix, tokens=TokenSettings(issuers=("kubernetes",))) as api:
        for path in ("/openid/v1/jwks", "/.well-known/openid-configuration"):
            assert (await api.get(path)).status_code == 404
