"""What a path asks for."""

import pytest

from ktui.kube.requestinfo import has_route, parse_path, request_verb, selected_name, split_url


@pytest.mark.parametrize(
    ("path", "group", "version", "namespace", "resource", "name", "subresource"),
    [
        ("/api/v1/pods", "", "v1", "", "pods", "", ""),
        ("/api/v1/namespaces", "", "v1", "", "namespaces", "", ""),
        ("/api/v1/namespaces/shop", "", "v1", "", "namespaces", "shop", ""),
        ("/api/v1/namespaces/shop/status", "", "v1", "", "namespaces", "shop", "status"),
        ("/api/v1/namespaces/shop/finalize", "", "v1", "", "namespaces", "shop", "finalize"),
        ("/api/v1/namespaces/shop/pods", "", "v1", "shop", "pods", "", ""),
        ("/api/v1/namespaces/shop/pods/", "", "v1", "shop", "pods", "", ""),
        ("/api/v1/namespaces/shop/pods/x", "", "v1", "shop", "pods", "x", ""),
        ("/api/v1/namespaces/shop/pods/x/log", "", "v1", "shop", "pods", "x", "log"),
        ("/api/v1/namespaces/shop//pods", "", "v1", "shop", "", "pods", ""),
        ("/api/v1/nodes/n/proxy/metrics", "", "v1", "", "nodes", "n", "proxy"),
        ("/apis/apps/v1/deployments", "apps", "v1", "", "deployments", "", ""),
        (
            "/apis/apps/v1/namespaces/shop/deployments/web/scale",
            "apps",
            "v1",
            "shop",
            "deployments",
            "web",
            "scale",
        ),
        ("/apis/example.io/v1/namespaces/status", "example.io", "v1", "", "namespaces", "status", ""),
    ],
)
def test_resource_paths(
    path: str, group: str, version: str, namespace: str, resource: str, name: str, subresource: str
) -> None:
    info = parse_path(path)
    assert info.is_resource
    parts = (info.group, info.version, info.namespace, info.resource, info.name, info.subresource)
    assert parts == (group, version, namespace, resource, name, subresource)


@pytest.mark.parametrize(
    "path", ["/", "", "/api", "/api/v1", "/apis", "/apis/apps/v1", "/version", "/metrics/a/b/c"]
)
def test_other_paths(path: str) -> None:
    assert not parse_path(path).is_resource


@pytest.mark.parametrize(
    ("method", "path", "query", "verb"),
    [
        ("GET", "/api/v1/pods", "", "LIST"),
        ("GET", "/api/v1/pods", "limit=5", "LIST"),
        ("GET", "/api/v1/pods", "watch=true", "WATCH"),
        ("GET", "/api/v1/pods", "watch=1&watch=0", "WATCH"),
        ("GET", "/api/v1/pods", "watch", "WATCH"),
        ("GET", "/api/v1/pods", "watch=False", "LIST"),
        ("GET", "/api/v1/pods", "watch=0", "LIST"),
        ("GET", "/api/v1/namespaces/a/pods/x", "watch=true", "GET"),
        ("GET", "/api/v1/watch/pods", "", "WATCH"),
        ("GET", "/api/v1/watch/namespaces/a/pods/x", "", "WATCH"),
        ("get", "/version", "", "OTHER"),
        ("LIST", "/api/v1/pods", "", "OTHER"),
        ("PROPFIND", "/api/v1/pods/x", "", "OTHER"),
        ("DELETE", "/api/v1/namespaces/a/pods", "", "DELETECOLLECTION"),
        ("DELETE", "/api/v1/namespaces/a/pods/x", "", "DELETE"),
        ("POST", "/api/v1/namespaces/a/pods", "", "POST"),
        ("PATCH", "/api/v1/namespaces/a/pods/x/status", "", "PATCH"),
        ("HEAD", "/api/v1/pods", "", "LIST"),
        ("HEAD", "/api/v1/pods", "watch=1", "WATCH"),
        ("HEAD", "/api/v1/namespaces/a/pods/x", "", "GET"),
        ("HEAD", "/api/v1/namespaces/a/pods/x/status", "", "GET"),
        ("HEAD", "/version", "", "HEAD"),
        ("POST", "/api/v1/watch/pods", "", "WATCH"),
        ("DELETE", "/apis/example.io/v1/watch/namespaces/a/widgets/x", "", "WATCH"),
        ("PUT", "/api/v1/watch/namespaces/a/pods/x/status", "", "WATCH"),
        ("BREW", "/api/v1/watch/pods", "", "WATCH"),
    ],
)
def test_verbs(method: str, path: str, query: str, verb: str) -> None:
    assert request_verb(method, parse_path(path), query) == verb


@pytest.mark.parametrize(
    ("method", "path", "routed"),
    [
        ("GET", "/api/v1/watch/pods", True),
        ("HEAD", "/api/v1/watch/pods", False),
        ("DELETE", "/api/v1/watch/pods", False),
        ("HEAD", "/api/v1/pods", False),
        ("DELETE", "/api/v1/namespaces/a/pods", True),
        ("PUT", "/api/v1/namespaces/a/pods/x", True),
    ],
)
def test_which_methods_have_a_route(method: str, path: str, routed: bool) -> None:
    assert has_route(method, request_verb(method, parse_path(path))) == routed


@pytest.mark.parametrize(
    ("path", "query", "name"),
    [
        ("/api/v1/pods", "fieldSelector=metadata.name%3Dx", "x"),
        ("/api/v1/pods", "fieldSelector=metadata.name%3Dx&watch=1", "x"),
        ("/api/v1/pods", "fieldSelector=metadata.name%3D..", ""),
        ("/api/v1/pods", "fieldSelector=metadata.name!%3Dx", ""),
        ("/api/v1/watch/pods", "fieldSelector=metadata.name%3Dx", ""),
    ],
)
def test_the_name_that_a_collection_is_narrowed_to(path: str, query: str, name: str) -> None:
    info = parse_path(path)
    assert selected_name(info, request_verb("GET", info, query), query) == name


def test_old_watch_paths_name_the_same_resource() -> None:
    info = parse_path("/api/v1/watch/namespaces/a/pods/x")
    assert (info.watch, info.namespace, info.resource, info.name) == (True, "a", "pods", "x")


@pytest.mark.parametrize(
    ("url", "path", "query"),
    [
        ("/api/v1/pods?limit=5", "/api/v1/pods", "limit=5"),
        ("https://host:6443/api/v1/pods?a=b://c", "/api/v1/pods", "a=b://c"),
        ("/api/v1/namespaces/a%20b", "/api/v1/namespaces/a b", ""),
    ],
)
def test_split_url(url: str, path: str, query: str) -> None:
    assert split_url(url) == (path, query)
