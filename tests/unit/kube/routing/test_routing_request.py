"""Paths and queries, understood for the routing rules."""

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.listoptions import parse_list_options, read_list, read_watch, with_watch_defaults
from ktui.kube.routing.cache_state import CacheState, etcd_supports_progress, is_etcd_version
from ktui.kube.routing.parameters import TokenState
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import RequestError, parse_request
from ktui.kube.status import StatusError
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of

NEW, OLD = behaviour_of("1.36"), behaviour_of("1.26")


@pytest.mark.parametrize(
    ("url", "verb"),
    [
        ("/api/v1/pods", "list"),
        ("https://10.0.0.1:6443/api/v1/pods?limit=5", "list"),
        ("/api/v1/pods?watch=1", "watch"),
        ("/api/v1/pods?watch=false", "list"),
        ("/api/v1/watch/pods", "watch"),
        ("/api/v1/namespaces/shop/pods/web", "get"),
        ("/api/v1/namespaces/shop/pods/web/status", "get"),
        ("/api/v1/namespaces/shop", "get"),
        ("/api/v1/namespaces", "list"),
        ("/apis/cilium.io/v2/ciliumnodes", "list"),
    ],
)
def test_verbs(url: str, verb: str) -> None:
    assert parse_request(url).verb == verb


def test_the_verb_can_be_said() -> None:
    request = parse_request("/api/v1/namespaces/shop/pods/web", "watch")
    assert request.verb == "watch"
    assert request.fields.requires("metadata.name") == "web"


@pytest.mark.parametrize(
    ("url", "verb", "text"),
    [
        ("api/v1/pods", "", "starts with '/'"),
        ("", "", "starts with '/'"),
        ("/healthz", "", "not an API path of a resource"),
        ("/api/v1", "", "not an API path of a resource"),
        ("/api/v1/pod", "", "did you mean 'pods'"),
        ("/api/v1/namespaces/shop/nodes", "", "belong to no namespace"),
        ("/api/v1/pods/web", "", "/api/v1/namespaces/NAMESPACE/pods/web"),
        ("/api/v1/namespaces/shop/pods/web/log", "", "not a read of a stored object"),
        ("/apis/authorization.k8s.io/v1/subjectaccessreviews", "", "never stored"),
        ("/api/v1/pods?labelSelector=a in (", "", "labelSelector='a in (' cannot be parsed"),
        ("/api/v1/pods?fieldSelector=status.phase", "", "fieldSelector='status.phase' cannot be parsed"),
        ("/api/v1/pods", "get", "a GET names one object"),
        ("/api/v1/namespaces/shop/pods/web", "list", "a LIST names a collection"),
        ("http://[x/api/v1/pods", "", "not a URL"),
    ],
)
def test_what_is_no_read(url: str, verb: str, text: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_request(url, verb)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("query", ["limit=abc", "fieldSelector=status.nope%3Dx", "timeoutSeconds=1s"])
def test_what_the_server_refuses_is_an_answer(query: str) -> None:
    request = parse_request(f"/api/v1/pods?{query}")
    refusal = request.refusal or request.field_fault
    assert request.refused and refusal is not None and refusal.code == 400


_FIELDS = st.sampled_from(["", "spec.nodeName=n", "spec.x=1"])
_RVS = st.sampled_from(["", "0", "7"])
_MATCHES = st.sampled_from(["", "Exact", "NotOlderThan", "x"])


@given(
    _FIELDS, _RVS, _MATCHES, st.booleans(), st.sampled_from([None, "true"]), st.sampled_from(KNOWN_VERSIONS)
)
def test_rules_and_validation_refuse_in_one_order(
    fields: str, rv: str, match: str, watch: bool, initial: str | None, version: str
) -> None:
    """What the server checks before it routes is what `ktui explain` says: code and text."""
    said = {"fieldSelector": fields, "resourceVersion": rv, "resourceVersionMatch": match}
    said |= {"watch": "true"} if watch else {}
    query = urlencode({name: value for name, value in said.items() if value} | _initial(initial))
    behaviour = behaviour_of(version)
    request = parse_request(f"/api/v1/pods?{query}")
    error = predict(request, CacheState(), behaviour).error
    assert request.resource is not None
    try:
        if watch:
            options = with_watch_defaults(
                parse_list_options(query), watch_list=behaviour.enabled("WatchList")
            )
            read_watch(options, behaviour, request.resource)
        else:
            read_list(parse_list_options(query), behaviour, request.resource)
    except StatusError as refused:
        assert error is not None
        assert (error.code, error.message) == (refused.code, refused.message)
    else:
        assert error is None or error.code not in (400, 422) or error.in_stream


def _initial(value: str | None) -> dict[str, str]:
    return {"sendInitialEvents": value} if value else {}


@pytest.mark.parametrize(
    ("url", "single", "selective", "narrowed"),
    [
        ("/api/v1/nodes?fieldSelector=metadata.name=a", True, False, False),
        ("/api/v1/namespaces/b/pods?fieldSelector=metadata.name=a", True, False, False),
        ("/api/v1/namespaces/b/pods?fieldSelector=metadata.name=a,status.phase=Running", True, True, False),
        ("/api/v1/pods?fieldSelector=metadata.name=a", False, True, False),
        ("/api/v1/pods?fieldSelector=metadata.name=a,metadata.namespace=shop", True, False, True),
        ("/api/v1/pods?fieldSelector=metadata.namespace=shop", False, False, True),
        ("/api/v1/pods?fieldSelector=metadata.namespace=No_Name", False, True, False),
        ("/api/v1/pods?fieldSelector=metadata.namespace!=shop", False, True, False),
        ("/api/v1/nodes?fieldSelector=metadata.name!=a", False, True, False),
        ("/api/v1/pods?labelSelector=app=x", False, True, False),
    ],
)
def test_narrowing(url: str, single: bool, selective: bool, narrowed: bool) -> None:
    scope = parse_request(url).scope(NEW)
    assert (scope.single, scope.selective, scope.narrowed) == (single, selective, narrowed)


def test_a_namespace_selector_narrows_from_1_27_on() -> None:
    request = parse_request("/api/v1/pods?fieldSelector=metadata.name=a,metadata.namespace=shop")
    scope = request.scope(OLD)
    assert not scope.single and scope.selective and not scope.narrowed


def test_a_token_stops_narrowing() -> None:
    token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhXHUwMDAwIn0"
    request = parse_request(f"/api/v1/nodes?fieldSelector=metadata.name=a&continue={token}")
    scope = request.scope(NEW)
    assert not scope.single and scope.selective
    assert (request.token.state, request.token.rv) == (TokenState.VALID, 5)


def test_a_token_that_is_none_keeps_its_fault() -> None:
    token = parse_request("/api/v1/pods?continue=abc").token
    assert token.state is TokenState.GARBAGE
    assert token.error is not None and "continue key is not valid" in token.error.message


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        ("3.3.99", False),
        ("3.4.30", False),
        ("3.4.31", True),
        ("3.4.99", True),
        ("3.4.31-rc.1", False),
        ("3.4.32-rc.1", True),
        # As in kube-apiserver: a pre-release of 3.5.0 is neither below 3.4.31 nor from 3.5.0 on.
        ("3.5.0-rc.1", True),
        ("3.5.0", False),
        ("3.5.1", False),
        ("3.5.12", False),
        ("3.5.13-rc.1", False),
        ("3.5.13+build.7", True),
        ("3.5.30-rc.1", True),
        ("3.5.13", True),
        ("v3.5.21", True),
        ("3.6.0-rc.2", True),
        ("3.7.1", True),
        ("4.0.0", True),
        ("3.5", False),
        ("", False),
        ("latest", False),
        ("3.05.13", False),
        ("3.6.0-01", False),
        (" v3.6.0 ", True),
        ("3.6." + "9" * 5000, False),
    ],
)
def test_progress_support(version: str, supported: bool) -> None:
    assert etcd_supports_progress(version) is supported


def test_what_is_an_etcd_version() -> None:
    assert is_etcd_version("3.5.1") and not is_etcd_version("3.5")
