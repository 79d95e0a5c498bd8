"""Large objects, documents that are hard to read, and long queries."""

from __future__ import annotations

from urllib.parse import quote

from tools.hostile.costly import (
    DRY,
    MAPS,
    NETWORKING,
    PODS,
    YAML,
    add,
    keys,
    labels,
    named,
    pod,
    post,
    with_limits,
    with_maps,
    without_limits,
)
from tools.hostile.target import ADMIN, MALLORY

# Objects.
post(
    "keys",
    "a ConfigMap with 100,000 keys",
    (201, 413, 422, 500),
    MAPS,
    lambda: named("k", data=keys(100_000, "")),
)
post(
    "invalid_labels",
    "100,000 invalid labels",
    (422, 413),
    MAPS,
    lambda: {"metadata": {"name": "l", "labels": {f"-{n}": "-" for n in range(100_000)}}},
)
post(
    "annotations",
    "60,000 annotations",
    (422, 413, 201),
    MAPS,
    lambda: {"metadata": {"name": "a", "annotations": keys(60_000)}},
)
post(
    "owners",
    "25,000 owners that are all controllers",
    (422, 413),
    MAPS,
    lambda: {
        "metadata": {
            "name": "o",
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": f"p{n}", "uid": f"u{n}", "controller": True}
                for n in range(25_000)
            ],
        }
    },
)
post(
    "containers", "a Pod with 30,000 containers", (201, 422, 413, 403, 500), PODS, lambda: pod("many", 30_000)
)
post(
    "requests",
    "20,000 containers, each with another resource, under limits and a quota",
    (201, 403, 413, 422, 500, 504),
    PODS,
    lambda: named(
        "r",
        spec={
            "containers": [
                {"name": f"c{n}", "image": "i", "resources": {"requests": {f"example.com/x{n}": "1"}}}
                for n in range(20_000)
            ]
        },
    ),
    before=with_limits,
    after=without_limits,
    within=75,
)
post(
    "quantity",
    "a quantity of 1,000,000 digits",
    (400, 422),
    PODS,
    lambda: named(
        "q",
        spec={
            "containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1" * 1_000_000 + "x"}}}
            ]
        },
    ),
)
post(
    "volumes",
    "20,000 volumes, all mounted",
    (201, 413, 422, 500),
    PODS,
    lambda: named(
        "v",
        spec={
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "volumeMounts": [{"name": f"v{n}", "mountPath": f"/v{n}"} for n in range(20_000)],
                }
            ],
            "volumes": [{"name": f"v{n}", "emptyDir": {}} for n in range(20_000)],
        },
    ),
)
post(
    "ingress_paths",
    "an Ingress with 20,000 paths",
    (201, 413, 422, 500),
    f"{NETWORKING}/ingresses",
    lambda: named(
        "i",
        spec={
            "rules": [
                {
                    "http": {
                        "paths": [
                            {
                                "path": f"/{n}",
                                "pathType": "Exact",
                                "backend": {"service": {"name": "a", "port": {"number": 1}}},
                            }
                            for n in range(20_000)
                        ]
                    }
                }
            ]
        },
    ),
)
post(
    "policy_selectors",
    "a NetworkPolicy with 30,000 expressions",
    (201, 413, 422, 500),
    f"{NETWORKING}/networkpolicies",
    lambda: named(
        "n",
        spec={
            "podSelector": {
                "matchExpressions": [
                    {"key": f"k{n}", "operator": "In", "values": ["a", "b"]} for n in range(30_000)
                ]
            }
        },
    ),
)
post(
    "role_rules",
    "a Role with 20,000 rules",
    (201, 403, 413, 422, 500),
    f"/apis/rbac.authorization.k8s.io/v1/namespaces/{MALLORY}/roles",
    lambda: named(
        "r", rules=[{"apiGroups": [""], "resources": [f"r{n}"], "verbs": ["get"]} for n in range(20_000)]
    ),
)
post(
    "review_groups",
    "a SubjectAccessReview with 90,000 groups",
    (201, 403, 413),
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    lambda: {
        "spec": {
            "groups": [f"g{n}" for n in range(90_000)],
            "resourceAttributes": {"verb": "get", "resource": "pods"},
        }
    },
    user=ADMIN,
)
post(
    "token",
    "a TokenReview of 2 MB",
    (201, 413),
    "/apis/authentication.k8s.io/v1/tokenreviews",
    lambda: {"spec": {"token": "a." * 1_000_000}},
    user=ADMIN,
)
post(
    "large_config_map",
    "a ConfigMap of 900 KB",
    (201,),
    MAPS,
    lambda: named("large", data={"a": "x" * 900_000}),
)
post(
    "small_objects",
    "99,000 empty objects, of fields that are unknown",
    (201, 400, 413),
    MAPS,
    lambda: named("u", unknown=[{}] * 99_000),
)
# Documents.
post(
    "yaml_20_mb",
    "20 MB of YAML",
    (413,),
    MAPS,
    lambda: b"a: [" + b"1, " * 7_000_000 + b"]",
    content_type=YAML,
)
post(
    "yaml_3_mb",
    "3 MB of YAML",
    (201, 400, 413, 422),
    MAPS,
    lambda: b"metadata: {name: y}\ndata:\n" + b"".join(b"  k%d: v\n" % n for n in range(250_000)),
    content_type=YAML,
)
post(
    "yaml_aliases",
    "YAML whose aliases would expand to 10^12 values",
    (400, 413),
    MAPS,
    lambda: b"".join(
        [
            b"a0: &a0 [1]\n",
            *(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 13)),
        ]
    ),
    content_type=YAML,
)
post("deep_json", "3 MB of nested lists", (400, 413), MAPS, lambda: b"[" * 3_000_000)
post(
    "protobuf",
    "3 MB of protobuf that is none",
    (400, 413),
    MAPS,
    lambda: b"k8s\0" + b"\x0a\x05" * 1_400_000,
    content_type="application/vnd.kubernetes.protobuf",
)
post(
    "yaml_directives",
    "99 %TAG directives that end with spaces",
    (400, 413),
    MAPS,
    lambda: (b"%TAG" + b" " * 200 + b"\n") * 99 + b"x: '%TAG %TAG'",
    content_type=YAML,
)
# Queries.
add(
    "accept_clauses",
    "an Accept header of 400 KB, each clause better than those before it, without credentials",
    (403, 406),
    "GET",
    "/api/v1/pods",
    lambda: None,
    user="",
    headers={"Accept": ",".join(f"a/b;q=0.{number:05}" for number in range(28_000))},
)
add(
    "timeout_digits",
    "a timeout of 60,000 digits, without credentials",
    (400,),
    "GET",
    f"/api/v1/pods?timeout={'1' * 60_000}",
    lambda: None,
    user="",
)
for _name, _text in (
    ("exists", "a{}"),
    ("absent", "!k{}"),
    ("not_in", "k{} notin (a,b)"),
    ("not_equal", "a!=v{}"),
):
    labels(f"labels_{_name}", _text, 3000 if len(_text) < 7 else 1800)
add(
    "fields",
    "a LIST with 2,200 fields",
    (200, 429),
    "GET",
    f"{MAPS}?fieldSelector={quote(','.join(f'metadata.name!=x{n}' for n in range(2200)))}",
    lambda: None,
    before=with_maps,
)
add("parameters", "20,000 parameters", (200, 429), "GET", f"{MAPS}?{'a=b&' * 14_000}", lambda: None)
add(
    "long_token",
    "a continue token of 60 KB",
    (400, 410),
    "GET",
    f"{MAPS}?limit=1&continue={'W' * 60_000}",
    lambda: None,
)
add("deep_path", "a path of 20,000 parts", (403, 404), "GET", "/api/v1/" + "a/" * 20_000, lambda: None)
add(
    "delete_selected",
    "a DELETE of a collection with 6,000 requirements",
    (200,),
    "DELETE",
    f"{MAPS}{DRY}&labelSelector={quote(','.join(f'a{n}' for n in range(6000)))}",
    lambda: None,
)
