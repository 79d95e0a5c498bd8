"""Whom a user may act as: by the verb `impersonate`; from 1.36 on by modes of constrained impersonation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx
import pytest

from ktui.cacher.settings import Settings
from ktui.cli.server.request_chain import RBAC
from ktui.etcd.client import EtcdClient
from ktui.kube.users import AUTHENTICATED, Requester
from ktui.kube.versions import behaviour_of
from tests.etcd.apiserver.conftest import Api, running

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MAPS = "/api/v1/namespaces/a/configmaps"
ROLES = "/apis/rbac.authorization.k8s.io/v1"
AUTHENTICATION = "authentication.k8s.io"
NODE_NAME = "authentication.kubernetes.io/node-name"
USERS = {
    "jane": Requester("jane", (AUTHENTICATED,)),
    "agent": Requester("system:serviceaccount:a:agent", (AUTHENTICATED,), extra={NODE_NAME: ["n1"]}),
}
ACCOUNT = "system:serviceaccount:a:builder"


@pytest.fixture(params=["1.36", "1.35"])
async def api(request: pytest.FixtureRequest, client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    settings = Settings(behaviour_of(request.param))
    async with running(client, prefix, mode=RBAC, users=USERS, settings=settings) as found:
        yield found


@pytest.fixture
def modes(request: pytest.FixtureRequest) -> bool:
    """Whether the server has the modes of constrained impersonation."""
    return request.node.callspec.params["api"] == "1.36"


async def allow(api: Api, rules: Iterable[tuple[str, str, str]]) -> None:
    """Give all users rights, as (verb, group, resource); returns when the server knows them."""
    found = [{"verbs": [verb], "apiGroups": [group], "resources": [name]} for verb, group, name in rules]
    # The last one is for this function: a right that no user has before.
    found.append({"verbs": ["know"], "apiGroups": [""], "resources": ["roles"]})
    await made(api, "clusterroles", {"metadata": {"name": "acts"}, "rules": found})
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "acts"}
    subjects = [{"kind": "Group", "name": AUTHENTICATED, "apiGroup": "rbac.authorization.k8s.io"}]
    await made(
        api, "clusterrolebindings", {"metadata": {"name": "act"}, "roleRef": ref, "subjects": subjects}
    )
    spec = {"groups": [AUTHENTICATED], "resourceAttributes": {"verb": "know", "resource": "roles"}}
    review = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    while not (await api.http.post(review, json={"spec": spec})).json()["status"]["allowed"]:
        pass  # each is an answer of the server


async def made(api: Api, plural: str, body: dict[str, Any]) -> None:
    answer = await api.create(f"{ROLES}/{plural}", body)
    assert answer.status_code == 201, answer.text


async def acting(api: Api, by: str, *headers: tuple[str, str], path: str = WHO) -> httpx.Response:
    sent = [("Authorization", f"Bearer {by}"), *((f"Impersonate-{name}", value) for name, value in headers)]
    if path == WHO:
        return await api.http.post(path, json={}, headers=sent)
    return await api.http.get(path, headers=sent)


@pytest.mark.parametrize("sent", [("Uid", "7"), ("Group", "qa"), ("Extra-Acme.io%2fteam", "x")])
async def test_each_attribute_needs_a_right_of_its_own(api: Api, sent: tuple[str, str]) -> None:
    await allow(api, [("impersonate", "", "users")])
    assert (await acting(api, "jane", ("User", "bob"))).status_code == 201
    assert (await acting(api, "jane", ("User", "bob"), sent)).status_code == 403
    many = [("Group", f"g{number}") for number in range(5)]
    assert (await acting(api, "jane", ("User", "bob"), *many)).status_code == 403


async def test_many_groups_by_one_right_or_by_each(api: Api, modes: bool) -> None:
    many = [("Group", f"g{number}") for number in range(5)]
    await allow(
        api,
        [
            ("impersonate:user-info", AUTHENTICATION, "users"),
            ("impersonate:user-info", AUTHENTICATION, "groups"),
            ("impersonate-on:user-info:create", AUTHENTICATION, "selfsubjectreviews"),
        ],
    )
    assert (await acting(api, "jane", ("User", "bob"), *many)).status_code == (201 if modes else 403)


def groups_of(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 201, answer.text
    groups: list[str] = answer.json()["status"]["userInfo"]["groups"]
    return groups


EVERYTHING = [("impersonate", "*", "*")]


@pytest.mark.parametrize(
    ("user", "groups", "expected"),
    [
        ("bob", (), [AUTHENTICATED]),
        ("bob", ("qa", "qa"), ["qa", "qa", AUTHENTICATED]),
        ("bob", ("system:unauthenticated", AUTHENTICATED), ["system:unauthenticated", AUTHENTICATED]),
        (ACCOUNT, (), ["system:serviceaccounts", "system:serviceaccounts:a", AUTHENTICATED]),
        (ACCOUNT, ("qa",), ["qa", AUTHENTICATED]),
        ("system:serviceaccount:A:builder", (), [AUTHENTICATED]),
        ("system:node:n1", (), [AUTHENTICATED]),
    ],
)
async def test_groups_of_an_impersonated_user(
    api: Api, user: str, groups: tuple[str, ...], expected: list[str]
) -> None:
    await allow(api, EVERYTHING)
    assert (
        groups_of(await acting(api, "jane", ("User", user), *(("Group", each) for each in groups)))
        == expected
    )


async def test_groups_that_are_not_authenticated_have_no_rights_of_those_that_are(api: Api) -> None:
    await allow(api, EVERYTHING)
    refused = await acting(api, "jane", ("User", "bob"), ("Group", "system:unauthenticated"))
    assert refused.status_code == 403  # reviews of oneself are for system:authenticated


async def test_an_anonymous_user_is_not_authenticated(api: Api) -> None:
    await allow(api, EVERYTHING)
    sent = (("User", "system:anonymous"), ("Group", "qa"))
    assert (await acting(api, "jane", *sent)).status_code == 403
    assert (await acting(api, "jane", *sent, path="/version")).status_code == 200


ON = [("impersonate-on:user-info:list", "", "configmaps"), ("list", "", "configmaps")]
AS_USERS = [("impersonate:user-info", AUTHENTICATION, "users"), *ON]


async def test_a_user_may_be_needed_for_one_kind_of_request_only(api: Api, modes: bool) -> None:
    await api.warm()
    await allow(api, AS_USERS)
    for path, code in ((MAPS, 200), (f"{MAPS}/x", 403)):
        answer = await acting(api, "jane", ("User", "bob"), path=path)
        assert answer.status_code == (code if modes else 403), path
    message = answer.json()["message"]
    if modes:
        assert message == (
            'configmaps "x" is forbidden: User "jane" cannot impersonate-on:user-info:get resource '
            '"configmaps" in API group "" in the namespace "a"'
        )
    else:
        assert message == (
            'users "bob" is forbidden: User "jane" cannot impersonate resource "users" in API group "" '
            "at the cluster scope"
        )


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ([("Group", "system:masters")], "impersonating the system:masters group is not allowed"),
        ([("Group", "")], "impersonating the empty string group is not allowed"),
        (
            [("Extra-Scopes", "x")],
            'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must '
            'be a domain-prefixed path (such as "acme.io/foo")',
        ),
    ],
)
async def test_what_no_mode_allows(api: Api, modes: bool, sent: list[tuple[str, str]], message: str) -> None:
    await allow(api, [*AS_USERS, ("*", AUTHENTICATION, "*")])
    answer = await acting(api, "jane", ("User", "bob"), *sent, path=MAPS)
    assert answer.status_code == 403
    assert not modes or answer.json()["message"].endswith(f"at the cluster scope: {message}")


async def test_nodes_and_service_accounts_have_modes_of_their_own(api: Api, modes: bool) -> None:
    await allow(
        api,
        [
            ("impersonate:serviceaccount", AUTHENTICATION, "serviceaccounts"),
            ("impersonate-on:serviceaccount:create", AUTHENTICATION, "selfsubjectreviews"),
            ("impersonate:associated-node", AUTHENTICATION, "nodes"),
            ("impersonate-on:associated-node:create", AUTHENTICATION, "selfsubjectreviews"),
        ],
    )
    own, other = ("User", "system:node:n1"), ("User", "system:node:n2")
    answers = [
        await acting(api, "jane", ("User", ACCOUNT)),
        await acting(api, "agent", own),
        await acting(api, "agent", other),  # not the node of its pod
        await acting(api, "jane", own),  # no service account
        await acting(api, "agent", own, ("Group", "qa")),  # nodes have fixed groups
    ]
    codes = [answer.status_code for answer in answers]
    assert codes == ([201, 201, 403, 403, 403] if modes else [403] * 5)
    if modes:
        assert groups_of(answers[0])[:2] == ["system:serviceaccounts", "system:serviceaccounts:a"]
        assert groups_of(answers[1]) == ["system:nodes", AUTHENTICATED]


async def test_only_other_attributes(api: Api, modes: bool) -> None:
    answer = await acting(api, "jane", ("Group", "qa"), ("Extra-Scopes", "x"), ("Uid", "7"))
    assert answer.status_code == 400
    text = (
        'requested &user.DefaultInfo{Name:"", UID:"7", Groups:[]string{"qa"}, '
        'Extra:map[string][]string{"scopes":[]string{"x"}}} without impersonating a user name'
        if modes
        else "requested [{Group  qa    } {UserExtra  x  authentication.k8s.io/v1  scopes} "
        "{UID  7  authentication.k8s.io/v1  }] without impersonating a user"
    )
    assert answer.json()["message"] == text
