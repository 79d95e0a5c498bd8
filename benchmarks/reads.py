"""Measure what reads cost on an idle server, and how a full LIST delays other requests."""

from __future__ import annotations

from benchmarks.beside import GET, GetsBeside
from benchmarks.figures import Figure
from benchmarks.http import NO_MATCH, Client, Timing
from benchmarks.pods import name_of, namespace_of, node_of
from benchmarks.server import Serving

_POD = f"/api/v1/namespaces/{namespace_of(7)}/pods/{name_of(7)}"
ALL = "/api/v1/pods?resourceVersion=0"

# Name → path; the names are those of the targets.
SMALL: dict[str, str] = {
    "LIST label, no match": NO_MATCH,
    "LIST one namespace": f"/api/v1/namespaces/{namespace_of(7)}/pods?resourceVersion=0",
    "LIST one node": f"/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName%3D{node_of(17)}",
    "LIST one node, rv unset": f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node_of(17)}",
    "LIST label, 1/20 match": "/api/v1/pods?resourceVersion=0&labelSelector=tier%3Dtier-03",
    "LIST limit=500": "/api/v1/pods?limit=500",
    "GET, rv=0": GET,
    "GET, rv unset": _POD,
}
_TIMES = 21
_LISTS = 5


def small_reads(client: Client) -> dict[str, Timing]:
    """Return the median of each read, after a first one that includes transcoding and building indexes."""
    found = {}
    for name, path in SMALL.items():
        client.get(path)
        found[name] = client.median(path, _TIMES)
    return found


def full_lists(server: Serving, client: Client) -> list[Figure]:
    """Measure full LISTs, the first of which transcodes all pods, and concurrent GETs."""
    with GetsBeside(server.port) as beside_first:
        first = client.get(ALL)
    spent = server.cpu()
    again = client.median(ALL, _LISTS)
    spent = (server.cpu() - spent) / _LISTS
    with GetsBeside(server.port) as beside_again:
        client.median(ALL, 3)
    return [
        Figure("LIST all, first", first.total, "ms", f"{first.size / 1e6:,.0f} MB"),
        Figure("LIST all, again", again.total, "ms"),
        Figure("CPU of the server for LIST all, again", spent, "ms"),
        Figure("first byte of LIST all", again.first_byte, "ms"),
        Figure("memory after full LISTs", server.memory(), "MB"),
        *_waits("GET beside the first LIST all", beside_first.took),
        *_waits("GET beside LIST all", beside_again.took),
    ]


def _waits(name: str, took: list[float]) -> list[Figure]:
    return [
        Figure(name, took[len(took) // 2], "ms", "median"),
        Figure(name, took[len(took) * 99 // 100], "ms", "99 %"),
        Figure(name, took[-1], "ms", "longest"),
    ]
