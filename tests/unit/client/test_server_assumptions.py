"""What a server is assumed to be, and predictions by that."""

import httpx
import msgspec
import pytest

from ktui.client.connection import ClientError, ServerConnection
from ktui.client.target import assumptions_of_ktui
from ktui.contract.events import AnyEvent, CacheStatus, EtcdProgress, ServerInfo
from ktui.contract.paths import BEHAVIOUR, INFO
from ktui.core.prediction.assumptions import ServerAssumptions, resource_id_of
from ktui.core.prediction.prediction import predict_path
from ktui.kube.versions import behaviour_of

READY = CacheStatus(resource="pods", state="ready", rv=100, objects=10, bytes=61_000)


def server(version: str, *, progress: bool = True, **caches: CacheStatus) -> ServerAssumptions:
    return ServerAssumptions(behaviour_of(version), progress, caches)


@pytest.mark.parametrize(
    ("version", "path", "route"),
    [
        ("1.24", "/api/v1/pods", "etcd"),
        ("1.24", "/api/v1/pods?resourceVersion=0", "cache"),
        ("1.36", "/api/v1/pods", "cache"),
        ("1.36", "/api/v1/pods?limit=abc", "none"),
    ],
)
def test_the_servers_own_version_decides(version: str, path: str, route: str) -> None:
    predicted = predict_path(path, server(version, pods=READY).of)
    assert predicted.route == route
    assert predicted.agrees("" if route == "none" else route) is True
    assert predicted.agrees("etcd" if route == "cache" else "cache") is False


def test_an_etcd_without_progress_requests_is_no_ground_for_consistent_reads() -> None:
    assert predict_path("/api/v1/pods", server("1.36", progress=False, pods=READY).of).route == "etcd"


def test_a_cache_that_was_not_requested_is_cold() -> None:
    cold, ready = server("1.36"), server("1.36", pods=READY)
    assert cold.of("pods").cache != ready.of("pods").cache
    assert ServerAssumptions(behaviour_of("1.36"), assumed=True).of("pods").cache.readiness.value == "ready"


def test_a_fallback_that_the_rules_leave_open_is_no_surprise() -> None:
    predicted = predict_path("/api/v1/pods", server("1.36", pods=READY).of)
    assert predicted.explanation is not None
    expected = predicted.explanation.plan.fallback.reads_etcd
    assert predicted.agrees("cache,etcd") is expected


def test_what_is_no_request_of_a_resource_is_not_predicted() -> None:
    predicted = predict_path("/version", server("1.36").of)
    assert (predicted.route, predicted.agrees("")) == ("", None)
    assert predicted.document() == {"route": None, "problem": predicted.problem}


def test_the_mean_size_of_objects() -> None:
    assert server("1.36", pods=READY).average_bytes("/api/v1/namespaces/a/pods?limit=1") == 6_100
    assert server("1.36").average_bytes("/api/v1/pods") == 0


def test_resources_are_named_as_in_telemetry() -> None:
    assert resource_id_of("/apis/coordination.k8s.io/v1/leases") == "leases.coordination.k8s.io"
    assert resource_id_of("/api/v1/namespaces/a/pods/b") == "pods"


@pytest.mark.anyio
async def test_a_ktui_server_describes_its_rules_and_caches() -> None:
    class Server:
        async def request(self, method: str, path: str) -> httpx.Response:
            return httpx.Response(200)

        async def get_json(self, path: str) -> dict[str, object]:
            info = ServerInfo(
                ktui_version="0.1.0",
                kube_version="1.30",
                etcd_version="3.5.1",
                etcd_kind="embedded",
                endpoints=[],
                writable=True,
                progress="assumed",
            )
            return {INFO: msgspec.to_builtins(info), BEHAVIOUR: {"kube_version": "1.30"}}[path]

        async def present(self) -> list[AnyEvent]:
            return [CacheStatus(resource="nodes", state="cold"), READY, EtcdProgress(head=9, compact=4)]

    found = await assumptions_of_ktui(Server())  # type: ignore[arg-type]
    assert (found.behaviour.version, found.progress, found.compact) == ("1.30", True, 4)
    assert (found.caches["pods"], found.caches["nodes"].state) == (READY, "cold")


@pytest.mark.anyio
async def test_a_server_of_another_program_is_recognized() -> None:
    class Stranger:
        connection = ServerConnection("https://api")

        async def request(self, method: str, path: str) -> httpx.Response:
            return httpx.Response(404)

    with pytest.raises(ClientError, match="kube-apiserver use --kubeconfig"):
        await assumptions_of_ktui(Stranger())  # type: ignore[arg-type]
