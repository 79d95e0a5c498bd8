"""Advice that needs to know more of a client than its request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.access_pattern import JSON, METADATA_ONLY, PROTOBUF, UNKNOWN, AccessPattern
from ktui.kube.advice import advise
from ktui.kube.continuetoken import encode
from ktui.kube.routing.cache_state import assumed_state
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import parse_request
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of

PODS = "/api/v1/pods"
WATCHLIST = "resourceVersionMatch=NotOlderThan"


def advised(
    url: str, pattern: AccessPattern, version: str = "1.36"
) -> dict[str, tuple[str, dict[str, str], bool]]:
    """(path, headers, tryable) of what the pattern adds, by id."""
    request, behaviour = parse_request(url), behaviour_of(version)
    state = assumed_state(request)
    plain = len(advise(request, state, behaviour))
    found = advise(request, state, behaviour, pattern)[plain:]
    return {one.id: (one.path, dict(one.headers), one.tryable) for one in found}


@pytest.mark.parametrize(
    ("url", "version", "path"),
    [
        (
            PODS,
            "1.36",
            f"{PODS}?{WATCHLIST}&watch=true&allowWatchBookmarks=true&sendInitialEvents=true",
        ),
        (PODS, "1.24", f"{PODS}?watch=true&allowWatchBookmarks=true&resourceVersion=0"),
        (
            f"{PODS}?limit=500&labelSelector=a%3Db&resourceVersion=0",
            "1.24",
            f"{PODS}?labelSelector=a=b&watch=true&allowWatchBookmarks=true&resourceVersion=0",
        ),
        (
            "/api/v1/namespaces/shop/pods/web",
            "1.24",
            "/api/v1/namespaces/shop/pods?watch=true&allowWatchBookmarks=true&resourceVersion=0"
            "&fieldSelector=metadata.name=web",
        ),
    ],
)
def test_who_polls_had_better_watch(url: str, version: str, path: str) -> None:
    found = advised(url, AccessPattern(repeated_every=30), version)
    assert found == {"a.watch": (path, {}, True)}
    assert parse_request(path).verb == "watch"


@pytest.mark.parametrize(
    ("url", "every"),
    [(PODS, 3600.0), (PODS, None), (f"{PODS}?watch=true", 5.0), (f"{PODS}?continue=abc&limit=5", 5.0)],
)
def test_what_is_no_poll(url: str, every: float | None) -> None:
    assert "a.watch" not in advised(url, AccessPattern(repeated_every=every))


@pytest.mark.parametrize(
    ("url", "version", "path"),
    [
        (PODS, "1.36", f"{PODS}?fieldSelector=spec.nodeName=n1"),
        (PODS, "1.24", f"{PODS}?fieldSelector=spec.nodeName=n1&resourceVersion=0"),
        (
            f"{PODS}?fieldSelector=status.phase%3DRunning",
            "1.36",
            f"{PODS}?fieldSelector=status.phase=Running,spec.nodeName=n1",
        ),
        (f"{PODS}?fieldSelector=spec.nodeName%3Dn1", "1.36", None),
        ("/api/v1/nodes", "1.36", None),
    ],
)
def test_an_agent_needs_its_own_nodes_pods(url: str, version: str, path: str | None) -> None:
    expected: dict[str, object] = {} if path is None else {"a.node": (path, {}, True)}
    assert advised(url, AccessPattern(node="n1"), version) == expected


@pytest.mark.parametrize(
    ("url", "accept", "expected"),
    [
        (
            PODS,
            JSON,
            {
                "a.metadata": {"Accept": f"{JSON};{METADATA_ONLY}"},
                "a.protobuf": {"Accept": f"{PROTOBUF}, {JSON}"},
            },
        ),
        (PODS, f"{PROTOBUF}, {JSON}", {"a.metadata": {"Accept": f"{PROTOBUF};{METADATA_ONLY}"}}),
        (f"{PODS}?watch=true", JSON, {"a.protobuf": {"Accept": f"{PROTOBUF}, {JSON}"}}),
        ("/apis/example.io/v1/widgets", JSON, {"a.metadata": {"Accept": f"{JSON};{METADATA_ONLY}"}}),
        ("/api/v1/nodes?fieldSelector=metadata.name%3Dn1", JSON, {}),
        ("/api/v1/namespaces/shop/pods/web", JSON, {}),
        (PODS, f"{JSON};as=Table;v=v1;g=meta.k8s.io,{JSON}", {}),
        (PODS, None, {}),
    ],
)
def test_smaller_forms_of_the_same_answer(
    url: str, accept: str | None, expected: dict[str, dict[str, str]]
) -> None:
    found = advised(url, AccessPattern(accept=accept))
    assert {one: headers for one, (_, headers, _) in found.items()} == expected
    assert all(path == url and tryable for path, _, tryable in found.values())


@pytest.mark.parametrize(
    ("agents", "together", "given"), [(500, True, True), (9, True, False), (500, False, False)]
)
def test_a_herd_restarts_slowly(agents: int, together: bool, given: bool) -> None:
    found = advised(PODS, AccessPattern(agents=agents, together=together))
    assert found == ({"a.backoff": (PODS, {}, False)} if given else {})


@pytest.mark.parametrize(
    ("account", "version", "given"),
    [
        ("system:serviceaccount:shop:default", "1.36", True),
        ("system:serviceaccount:shop:default", "1.19", False),
        ("system:serviceaccount:shop:indexer", "1.36", False),
        ("system:node:n1", "1.36", False),
        ("", "1.36", False),
    ],
)
def test_a_client_has_an_account_of_its_own(account: str, version: str, given: bool) -> None:
    assert ("a.account" in advised(PODS, AccessPattern(account=account), version)) is given


patterns = st.builds(
    AccessPattern,
    repeated_every=st.none() | st.floats(0.01, 10_000),
    agents=st.integers(1, 5000),
    together=st.booleans(),
    node=st.sampled_from(["", "n1"]),
    account=st.sampled_from(["", "system:serviceaccount:a:default"]),
    accept=st.sampled_from([None, JSON, f"{PROTOBUF}, {JSON}"]),
)
urls = st.sampled_from(
    [
        PODS,
        f"{PODS}?limit=500",
        f"{PODS}?limit=5&resourceVersion=9",
        f"{PODS}?resourceVersionMatch=Exact",
        f"{PODS}?filedSelector=spec.nodeName%3Dn1",
        f"{PODS}?watch=true&resourceVersion=0",
        "/api/v1/namespaces/a/pods/b",
        "/apis/example.io/v1/widgets?labelSelector=a",
    ]
)


@given(urls, st.sampled_from(KNOWN_VERSIONS), patterns)
def test_whatever_is_advised_is_a_request_that_the_server_takes(
    url: str, version: str, pattern: AccessPattern
) -> None:
    request, behaviour = parse_request(url), behaviour_of(version)
    state = assumed_state(request)
    plain = advise(request, state, behaviour, UNKNOWN)
    found = advise(request, state, behaviour, pattern)
    assert found[: len(plain)] == plain
    for one in found[len(plain) :]:
        assert predict(parse_request(one.path), state, behaviour) == one.plan
        assert one.plan.error is None
        assert one.tryable or one.id in ("a.backoff", "a.account")


def test_small_pages_had_better_be_larger() -> None:
    url = f"{PODS}?limit=50&continue={encode(9, 'a/b')}"
    found = advised(url, AccessPattern(pages=12), "1.30")
    assert found == {"a.larger_pages": (f"{PODS}?limit=500", {}, True)}
    assert not advised(url, AccessPattern(pages=3), "1.30")
    assert not advised(url.replace("=50&", "=500&"), AccessPattern(pages=12), "1.30")


def test_an_account_that_others_use_as_well() -> None:
    shared = AccessPattern(
        account="system:serviceaccount:kube-system:agent", account_shared_with=("operator",)
    )
    assert advised(f"{PODS}?resourceVersion=0", shared) == {
        "a.account": (f"{PODS}?resourceVersion=0", {}, False)
    }
    own = AccessPattern(account="system:serviceaccount:kube-system:agent")
    assert not advised(f"{PODS}?resourceVersion=0", own)
    assert not advised(
        f"{PODS}?resourceVersion=0", AccessPattern(account="admin", account_shared_with=("kubectl",))
    )


def test_the_form_of_a_small_answer_does_not_matter() -> None:
    url = f"{PODS}?resourceVersion=0"
    assert set(advised(url, AccessPattern(accept=JSON, answer_bytes=10**7))) == {"a.metadata", "a.protobuf"}
    assert not advised(url, AccessPattern(accept=JSON, answer_bytes=9_000))


@pytest.mark.parametrize("version", ["1.31", "1.32", "1.33", "1.34", "1.37"])
def test_an_informer_that_lists_is_advised_a_streaming_list(version: str) -> None:
    """1.32 had WatchList on as well, but 1.33 turned it off again."""
    behaviour, request = behaviour_of(version), parse_request(f"{PODS}?limit=500&resourceVersion=0")
    state = assumed_state(request)
    found = {hint.id: hint for hint in advise(request, state, behaviour, AccessPattern(informer=True))}
    assert ("a.watch_list" in found) is (behaviour.minor >= 34)
    if "a.watch_list" in found:
        hint = found["a.watch_list"]
        assert "limit" not in hint.path and hint.plan.error is None
        assert hint.plan.initial_events and hint.plan.end_bookmark
    assert "a.watch_list" not in {hint.id for hint in advise(request, state, behaviour)}
