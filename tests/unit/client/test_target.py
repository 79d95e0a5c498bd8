"""A real kube-apiserver's cost, from the client's side and from its counters."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from ktui.apiserver.http.tls import ensure_certificate
from ktui.cli.targets import Declined, ask_before, confirm
from ktui.client.api import TimedResponse
from ktui.client.connection import ServerConnection
from ktui.client.kube_connection import KubeConnection, Material
from ktui.client.large_lists import is_unbounded
from ktui.client.measure import ApiRequest
from ktui.client.target import OTHERS, KtuiTarget, KubeTarget, collection_size, target_of
from ktui.core.prediction.assumptions import ServerAssumptions
from ktui.kube.access_pattern import METADATA_ONLY
from ktui.kube.versions import behaviour_of

PODS = b'{"kind":"PodList","metadata":{"resourceVersion":"7","remainingItemCount":%d},"items":[{"a":1}]}'


def old_server() -> ServerAssumptions:
    """Of a kube-apiserver 1.30 whose collections were not sized yet."""
    return ServerAssumptions(behaviour_of("1.30"), assumed=True)


class Apiserver:
    """An ApiClient whose answers are made up; counters grow by one LIST at each firing."""

    connection = ServerConnection("https://api")
    returned = 1  # of each LIST, by the counters

    def __init__(self, remaining: int = 0, metrics: int = 200) -> None:
        self.remaining, self.metrics = remaining, metrics
        self.fired: list[str] = []

    async def send_timed(
        self, path: str, *, on_chunk: Callable[[bytes], None], headers: Any = None
    ) -> TimedResponse:
        self.fired.append(path)
        body = PODS % self.remaining
        on_chunk(body)
        return TimedResponse(path, 200, {"x-kubernetes-pf-flowschema-uid": "f1"}, len(body), 1.0, 2.0)

    async def request(self, method: str, path: str) -> httpx.Response:
        lists = len(self.fired) + 1
        text = (
            f'apiserver_storage_list_total{{resource="pods"}} {lists}\n'
            f'apiserver_storage_list_fetched_objects_total{{resource="pods"}} {lists * 50}\n'
            f'apiserver_storage_list_returned_objects_total{{resource="pods"}} {lists * self.returned}\n'
        )
        return httpx.Response(self.metrics, text=text)


def target(server: Apiserver) -> KubeTarget:
    return KubeTarget(server)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_counters_tell_route_and_cost() -> None:
    measured = await target(Apiserver()).measure(ApiRequest("/api/v1/pods"))
    assert (measured.route, measured.first_route, measured.items) == ("etcd", "etcd", 1)
    assert measured.counters["fetched"] == 50
    assert measured.processed_bytes == 50 * measured.body_bytes  # by the size of what was received
    assert measured.flow_control == {"flow_schema_uid": "f1"}
    assert [remark for remark in measured.remarks if "other clients" in remark]


@pytest.mark.anyio
async def test_other_clients_requests_are_no_verdict() -> None:
    server = Apiserver()
    server.returned = 2
    measured = await target(server).measure(ApiRequest("/api/v1/pods"))
    assert (measured.route, measured.first_route, measured.counters) == ("", "", {})
    assert measured.remarks == [OTHERS]


@pytest.mark.anyio
async def test_metadata_alone_saves_no_objects_read() -> None:
    """The objects that a page of metadata holds are smaller than those that the server has read."""
    metadata = f"application/json;{METADATA_ONLY}"
    measured = await target(Apiserver()).measure(ApiRequest("/api/v1/pods", accept=metadata))
    assert (measured.counters["fetched"], measured.processed_bytes) == (50, None)


@pytest.mark.anyio
async def test_without_metrics_the_clients_side_is_all() -> None:
    measured = await target(Apiserver(metrics=403)).measure(ApiRequest("/api/v1/pods"))
    assert (measured.route, measured.counters, measured.processed_bytes) == ("", {}, None)
    assert "HTTP 403" in measured.remarks[0]
    assert measured.total_ms == 2.0


@pytest.mark.anyio
async def test_a_collections_size_by_a_page_of_one() -> None:
    server = Apiserver(remaining=9_999)
    objects, each = await collection_size(server, "/api/v1/pods?labelSelector=a")  # type: ignore[arg-type]
    assert (objects, server.fired) == (10_000, ["/api/v1/pods?limit=1"])
    assert each > 50


@pytest.mark.parametrize(
    ("path", "unbounded"),
    [
        ("/api/v1/pods", True),
        ("/api/v1/pods?limit=500&resourceVersion=0", True),  # the limit is ignored
        ("/api/v1/pods?fieldSelector=spec.nodeName=n1", True),  # all of them are read to find a few
        ("/api/v1/pods?fieldSelector=spec.nodeName=n1&resourceVersion=0", False),
        ("/api/v1/pods?limit=500", False),
        ("/api/v1/namespaces/a/pods", False),
        ("/api/v1/namespaces/a/pods/b", False),
        ("/version", False),
    ],
)
def test_what_is_asked_for_first(path: str, unbounded: bool) -> None:
    assert is_unbounded(path, old_server()) is unbounded


@pytest.mark.anyio
async def test_a_large_list_of_a_real_apiserver_needs_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    large = target(Apiserver(remaining=5_000))
    with pytest.raises(Declined, match=r"5,001 objects .* of https://api; confirm with --yes"):
        await ask_before(large, ["/api/v1/pods"], old_server(), yes=False)
    await ask_before(large, ["/api/v1/pods"], old_server(), yes=True)
    await ask_before(large, ["/api/v1/pods?limit=5"], old_server(), yes=False)
    await ask_before(target(Apiserver(remaining=4_999)), ["/api/v1/pods"], old_server(), yes=False)


@pytest.mark.parametrize(("answer", "goes_on"), [("y\n", True), ("yes\n", True), ("\n", False), ("", False)])
def test_confirming(answer: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdin.readline", lambda: answer)
    if goes_on:
        confirm("much", yes=False)
    else:
        with pytest.raises(Declined):
            confirm("much", yes=False)


@pytest.mark.anyio
async def test_a_kubeconfigs_server_is_a_real_one(tmp_path: Any) -> None:
    files = ensure_certificate(tmp_path, "127.0.0.1")
    certificate = Material("client certificate", files.cert.read_bytes())
    key = Material("client key", files.key.read_bytes())
    real = target_of(
        KubeConnection("https://127.0.0.1:1", ca=certificate, certificate=certificate, key=key), "ktui"
    )
    own = target_of(ServerConnection("http://127.0.0.1:1"), "ktui")
    assert isinstance(real, KubeTarget) and real.real
    assert isinstance(own, KtuiTarget) and not own.real
    await real.client.close()
    await own.client.close()
