"""Cheaper forms and warnings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.advice import advise, etcd_cost, near_parameter
from ktui.kube.explain import cautions
from ktui.kube.routing.cache_state import Readiness, RevisionAge, assumed_state
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import parse_request
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of

NOT_OLDER = "&resourceVersionMatch=NotOlderThan"
LAST = "/api/v1/pods?resourceVersion=9"


def advice(
    url: str, version: str, *, age: RevisionAge = RevisionAge.CURRENT, cache: str = "ready"
) -> list[tuple[str, str]]:
    request = parse_request(url)
    state = assumed_state(request, rv_age=age, readiness=Readiness(cache))
    return [(one.id, one.path) for one in advise(request, state, behaviour_of(version))]


def warned(url: str, version: str = "1.36") -> str:
    request = parse_request(url)
    behaviour = behaviour_of(version)
    return "\n".join(cautions(request, predict(request, assumed_state(request), behaviour), behaviour))


@pytest.mark.parametrize(
    ("url", "version", "expected"),
    [
        (
            "/api/v1/pods",
            "1.24",
            [("a.rv0", "/api/v1/pods?resourceVersion=0"), ("a.page", "/api/v1/pods?limit=500")],
        ),
        ("/api/v1/pods", "1.36", [("a.rv0", "/api/v1/pods?resourceVersion=0")]),
        ("/api/v1/pods?limit=500", "1.36", []),
        ("/api/v1/pods?resourceVersion=0", "1.24", []),
        (
            "/api/v1/pods?filedSelector=spec.nodeName%3Dn1",
            "1.24",
            [
                ("a.parameter", "/api/v1/pods?fieldSelector=spec.nodeName=n1"),
                ("a.rv0", "/api/v1/pods?fieldSelector=spec.nodeName=n1&resourceVersion=0"),
            ],
        ),
        (
            "/api/v1/pods?limit=5&resourceVersion=9",
            "1.32",
            [
                (
                    "a.not_older_than",
                    "/api/v1/pods?limit=5&resourceVersion=9&resourceVersionMatch=NotOlderThan",
                )
            ],
        ),
        (
            "/api/v1/pods?limit=5&resourceVersion=9",
            "1.24",
            [("a.no_limit", "/api/v1/pods?resourceVersion=9")],
        ),
        ("/api/v1/pods?limit=5&resourceVersion=9", "1.36", []),
        (
            "/api/v1/pods?limit=5&resourceVersion=9&resourceVersionMatch=Exact",
            "1.24",
            [("a.not_older_than", "/api/v1/pods?resourceVersion=9&resourceVersionMatch=NotOlderThan")],
        ),
        (
            "/api/v1/namespaces/shop/pods/web",
            "1.36",
            [("a.rv0", "/api/v1/namespaces/shop/pods/web?resourceVersion=0")],
        ),
        ("/api/v1/pods?watch=true", "1.36", []),
        ("/api/v1/pods?resourceVersionMatch=Exact", "1.36", []),
    ],
)
def test_cheaper_forms(url: str, version: str, expected: list[tuple[str, str]]) -> None:
    assert advice(url, version) == expected


def test_a_page_gets_through_while_the_cache_is_filled() -> None:
    assert advice("/api/v1/pods", "1.36", cache="initializing") == [("a.page", "/api/v1/pods?limit=500")]
    assert advice("/api/v1/pods?labelSelector=a%3Db", "1.36", cache="initializing") == []


def test_a_namespace_belongs_in_the_path() -> None:
    request = parse_request(
        "/apis/apps/v1/deployments?fieldSelector=metadata.namespace=shop,metadata.name=web"
    )
    found = advise(request, assumed_state(request), behaviour_of("1.26"))
    paths = {one.id: one.path for one in found}
    assert paths["a.namespace"] == "/apis/apps/v1/namespaces/shop/deployments?fieldSelector=metadata.name=web"


parameters = st.lists(
    st.sampled_from(
        [
            "limit=500",
            "limit=0",
            "resourceVersion=0",
            "resourceVersion=77",
            "resourceVersionMatch=Exact",
            "resourceVersionMatch=NotOlderThan",
            "fieldSelector=spec.nodeName%3Da",
            "fieldSelector=metadata.namespace%3Dshop",
            "filedSelector=metadata.name%3Da",
            "labelSelector=a%3Db%2Cc",
            "watch=true",
            "foo=bar",
        ]
    ),
    max_size=4,
)


@given(
    parameters,
    st.sampled_from(KNOWN_VERSIONS),
    st.sampled_from(RevisionAge),
    st.sampled_from(Readiness),
    st.booleans(),
)
def test_advice_is_never_more_expensive(
    query: list[str], version: str, age: RevisionAge, readiness: Readiness, progress: bool
) -> None:
    request = parse_request("/api/v1/pods?" + "&".join(query))
    state = assumed_state(request, rv_age=age, readiness=readiness, progress=progress)
    behaviour = behaviour_of(version)
    found = list(advise(request, state, behaviour))
    before = predict(request, state, behaviour)
    if found and found[0].id == "a.parameter":
        before = found.pop(0).plan
    for one in found:
        assert one.plan.error is None
        assert before.error is not None or etcd_cost(one.plan) < etcd_cost(before)
        assert predict(parse_request(one.path), state, behaviour) == one.plan


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("/api/v1/pods?filedSelector=spec.nodeName%3Dn", "did you mean fieldSelector?): nothing is filtered"),
        ("/api/v1/pods?labelselector=a", "did you mean labelSelector?"),
        ("/api/v1/pods?foo=1", "unknown parameter foo is silently ignored by the server"),
        ("/api/v1/pods?limit=5&resourceVersion=0", "limit is ignored with resourceVersion=0"),
        ("/api/v1/pods?limit=5&resourceVersion=9", "exactly that revision"),
        ("/api/v1/pods?limit=-5", "limit=-5 means no limit"),
        ("/api/v1/pods?fieldSelector=metadata.name%3Da", "metadata.name without a namespace"),
        ("/api/v1/watch/pods", "/watch/ is deprecated"),
        ("/apis/example.io/v1/widgets", "not built in"),
        (
            "/api/v1/namespaces/a/pods/b?resourceVersionMatch=Exact",
            "resourceVersionMatch is not a parameter of a GET",
        ),
    ],
)
def test_warnings(url: str, text: str) -> None:
    assert text in warned(url)


@pytest.mark.parametrize(
    ("url", "version", "text"),
    [
        ("/api/v1/pods?limit=5", "1.33", "1.33.0 to 1.33.2"),
        ("/api/v1/pods?watch=true", "1.33", "may start stale"),
        ("/api/v1/pods?watch=true&sendInitialEvents=true", "1.26", "sendInitialEvents is unknown"),
        ("/api/v1/pods?limit=5&labelSelector=a%3Db", "1.30", "until 5 objects match (pages double"),
        ("/api/v1/pods?fieldSelector=metadata.namespace%3Da", "1.26", "does not narrow the read before 1.27"),
    ],
)
def test_warnings_by_version(url: str, version: str, text: str) -> None:
    assert text in warned(url, version)
    assert text not in warned(url, "1.36")


@pytest.mark.parametrize("url", ["/api/v1/pods?limit=500", "/api/v1/pods?resourceVersion=0", "/api/v1/nodes"])
def test_nothing_to_say_about_plain_requests(url: str) -> None:
    assert warned(url) == ""


def test_near_parameters() -> None:
    assert near_parameter("filedSelector") == "fieldSelector"
    assert near_parameter("resourceversion") == "resourceVersion"
    assert near_parameter("pretty") is None
