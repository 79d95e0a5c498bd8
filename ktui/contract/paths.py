"""The paths that a ktui server adds to the Kubernetes API."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import msgspec

ROOT = "/ktui/v1"
TELEMETRY = "/telemetry"
OWN = ("/ktui/", TELEMETRY)  # everything else is kube-apiserver's
INFO = f"{ROOT}/info"
PRESENT = f"{ROOT}/present"
BEHAVIOUR = f"{ROOT}/behaviour"
FAULTS = f"{ROOT}/faults"
MARKERS = f"{ROOT}/markers"
REQUESTS = f"{ROOT}/requests"
ETCD_PREFIXES = f"{ROOT}/etcd/prefixes"
ETCD_KEYS = f"{ROOT}/etcd/keys"
ETCD_KEY = f"{ROOT}/etcd/key"
ETCD_HISTORY = f"{ROOT}/etcd/history"
ETCD_SURVEY = f"{ROOT}/etcd/survey"
ETCD_CHURN = f"{ROOT}/etcd/churn"
CACHE = f"{ROOT}/caches/{{}}"  # {}: a resource id such as "leases.coordination.k8s.io"
CACHE_OBJECTS = f"{CACHE}/objects"
CACHE_EVENTS = f"{CACHE}/events"
CACHE_WARM = f"{CACHE}/warm"
CACHE_CHECK = f"{CACHE}/check"
CACHE_LOSE = f"{CACHE}/lose"


def of_request(request_id: int) -> str:
    """Return the path of a finished request, whose id is the answer's `X-Ktui-Request-Id`."""
    return f"{REQUESTS}/{request_id}"


def of_cache(template: str, resource: str, **parameters: str | int | None) -> str:
    """Return a cache's path with a query: `of_cache(CACHE_OBJECTS, "pods", offset=0, limit=200)`."""
    return with_query(template.format(quote(resource, safe="")), **parameters)


def with_query(path: str, **parameters: str | int | None) -> str:
    """Return `path` with a query; parameters that are None are left out, so the server uses its defaults."""
    query = urlencode(
        {name: value for name, value in parameters.items() if value is not None}, quote_via=quote, safe="/"
    )
    return f"{path}?{query}" if query else path


class Rules(msgspec.Struct, frozen=True):
    """The server's rules; `feature_gates` are those that override the defaults of `kube_version`."""

    kube_version: str
    feature_gates: dict[str, bool] = {}
