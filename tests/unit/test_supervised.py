"""The server starts no background task without supervision."""

from __future__ import annotations

import ast
from pathlib import Path

import ktui
from tests.source import parsed

# Tasks whose starter waits for them, or that report their end in their own way.
OWN = {
    "apiserver/http/health_reserve.py",  # its connection ends with it, and an error is logged
    "apiserver/large_requests.py",  # one cancels its request, one frees memory piece by piece
    "apiserver/http/request.py",  # its request waits for it
    "apiserver/http/tls_front.py",  # its connection waits for both directions
    "apiserver/pages/etcd.py",  # its request waits for it
    "cacher/watch_handler.py",  # its client's stream ends with the error
    "cacher/resource_cache.py",  # both within a supervised task
    "cli/server/composition.py",  # waits for a signal
    "cli/server/fault_injector.py",  # its end is a marker in the telemetry, and `end` waits for it
    "cli/server/tracing.py",  # within a supervised task, which raises its fault
    "etcd/connection_liveness.py",  # within a supervised task
    "etcd/injection.py",  # a watch waits for its task; a connection for its groups
    "etcd/small_reads.py",  # reads go over gRPC until it has connected, and after it has failed
    "etcd/watch.py",  # sends one message; the reader of the stream gets the error
    "storage/churn.py",  # its reader waits for the batch
    "storage/whole_range.py",  # its reader waits for the next page, or ends the call
    "writes/own_objects.py",  # in a group that the start of the server waits for
}
PACKAGES = ("etcd", "storage", "cacher", "writes", "apiserver", "cli/server", "telemetry")


def test_tasks_of_the_server_are_supervised() -> None:
    root = Path(ktui.__file__).parent
    paths = [path for package in PACKAGES for path in (root / package).rglob("*.py")]
    found = {path.relative_to(root).as_posix() for path in paths if _starts_tasks(path)}
    assert found <= OWN, f"start these with a Supervisor: {sorted(found - OWN)}"
    assert found >= OWN, f"these start no task any more: {sorted(OWN - found)}"


def _starts_tasks(path: Path) -> bool:
    calls = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
    return any(
        isinstance(call.func, ast.Attribute) and call.func.attr in ("create_task", "ensure_future")
        for call in calls
    )
