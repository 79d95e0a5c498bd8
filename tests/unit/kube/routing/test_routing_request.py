"""Paths and queries, understood for the routing rules."""

import pytest

from ktui.kube.routing.model import TokenState
from ktui.kube.routing.progress import etcd_supports_progress, is_etcd_version
from ktui.kube.routing.request import RequestError, parse_request
from ktui.kube.versions import behaviour_of

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
    assert request.required_name == "web"


@pytest.mark.parametrize(
    ("url", "verb", "text"),
    [
        ("api/v1/pods", "", "starts with '/'"),
        ("", "", "starts with '/'"),
        ("/healthz", "", "no API path of a resource"),
        ("/api/v1", "", "no API path of a resource"),
        ("/api/v1/pod", "", "did you mean 'pods'"),
        ("/api/v1/namespaces/shop/nodes", "", "belong to no namespace"),
        ("/api/v1/pods/web", "", "/api/v1/namespaces/NAMESPACE/pods/web"),
        ("/api/v1/namespaces/shop/pods/web/log", "", "no read of a stored object"),
        ("/apis/authorization.k8s.io/v1/subjectaccessreviews", "", "never stored"),
        ("/api/v1/pods?labelSelector=a in (", "", "labelSelector='a in (' cannot be parsed"),
        ("/api/v1/pods?fieldSelector=status.phase", "", "fieldSelector='status.phase' cannot be parsed"),
        ("/api/v1/pods", "get", "a GET names one object"),
        ("/api/v1/namespaces/shop/pods/web", "list", "a LIST names a collection"),
        ("http://[x/api/v1/pods", "", "no URL"),
    ],
)
def test_what_is_no_read(url: str, verb: str, text: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_request(url, verb)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("query", ["limit=abc", "fieldSelector=status.nope%3Dx", "timeoutSeconds=1s"])
def test_what_the_server_refuses_is_an_answer(query: str) -> None:
    refusal = parse_request(f"/api/v1/pods?{query}").refusal
    assert refusal is not None and refusal.code == 400


@pytest.mark.parametrize(
    ("url", "recursive", "selectors", "narrowed"),
    [
        ("/api/v1/nodes?fieldSelector=metadata.name=a", False, False, False),
        ("/api/v1/namespaces/b/pods?fieldSelector=metadata.name=a", False, False, False),
        (
            "/api/v1/namespaces/b/pods?fieldSelector=metadata.name=a,status.phase=Running",
            False,
            True,
            False,
        ),
        ("/api/v1/pods?fieldSelector=metadata.name=a", True, True, False),
        ("/api/v1/pods?fieldSelector=metadata.name=a,metadata.namespace=shop", False, False, True),
        ("/api/v1/pods?fieldSelector=metadata.namespace=shop", True, False, True),
        ("/api/v1/pods?fieldSelector=metadata.namespace=No_Name", True, True, False),
        ("/api/v1/pods?fieldSelector=metadata.namespace!=shop", True, True, False),
        ("/api/v1/nodes?fieldSelector=metadata.name!=a", True, True, False),
        ("/api/v1/pods?labelSelector=app=x", True, True, False),
    ],
)
def test_narrowing(url: str, recursive: bool, selectors: bool, narrowed: bool) -> None:
    question = parse_request(url).list_question(NEW)
    assert (question.recursive, question.selectors, question.narrowed) == (recursive, selectors, narrowed)


def test_a_namespace_selector_narrows_from_1_27_on() -> None:
    request = parse_request("/api/v1/pods?fieldSelector=metadata.name=a,metadata.namespace=shop")
    question = request.list_question(OLD)
    assert question.recursive and question.selectors and not question.narrowed


def test_a_token_stops_narrowing() -> None:
    token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhXHUwMDAwIn0"
    question = parse_request(f"/api/v1/nodes?fieldSelector=metadata.name=a&continue={token}").list_question(
        NEW
    )
    assert question.recursive and question.selectors
    assert (question.token, question.token_rv) == (TokenState.VALID, 5)


def test_a_token_that_is_none_keeps_its_fault() -> None:
    request = parse_request("/api/v1/pods?continue=abc")
    assert request.token is TokenState.GARBAGE
    assert request.token_fault is not None and "continue key is not valid" in request.token_fault.message


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        ("3.3.99", False),
        ("3.4.30", False),
        ("3.4.31", True),
        ("3.4.99", True),
        ("3.5.0", False),
        ("3.5.1", False),
        ("3.5.12", False),
        ("3.5.13-rc.0", False),
        ("3.5.13", True),
        ("v3.5.21", True),
        ("3.6.0-rc.2", True),
        ("3.7.1", True),
        ("4.0.0", True),
        ("3.5", False),
        ("", False),
        ("latest", False),
    ],
)
def test_progress_support(version: str, supported: bool) -> None:
    assert etcd_supports_progress(version) is supported


def test_what_is_an_etcd_version() -> None:
    assert is_etcd_version("3.5.1") and not is_etcd_version("3.5")
