"""What a real kube-apiserver needs for the same work, for comparison.

Measured over an etcd with 100,000 pods of 6.1 KB (8.8 KB as JSON) on 4,000 nodes
in 200 namespaces, with 20 tiers. The figures show an order of magnitude: the machine
was shared, and the client opened a TLS connection for each GET.
"""

from __future__ import annotations

SOURCE = "measured on a 2-core machine, kube-apiserver 1.36.2, 100,000 pods"
PODS = 100_000

# Figure → (from, to), in the unit of the figure: s, MB, ms, events/s.
KUBE_APISERVER: dict[str, tuple[float, float]] = {
    "ready, cold": (30, 40),
    "memory when ready": (5900, 6300),
    "memory after full LISTs": (13_000, 19_000),
    "LIST all, again": (9600, 11_000),
    "LIST label, 1/20 match": (800, 850),
    "LIST label, no match": (80, 98),
    "LIST one namespace": (80, 90),
    "LIST limit=500": (63, 100),
    "LIST one node": (11, 21),
    "LIST one node, rv unset": (11, 21),
    "GET, rv=0": (4, 7),
    "GET, rv unset": (7, 11),
    "100 watchers": (27_000, 27_000),
}

# Form → the ratio to ktui's JSON LIST that it may take: for a page of 500, and for all 100,000. That is half
# and a fifth of kube-apiserver's time on a machine where ktui's JSON LISTs took 10 ms and 0.7 s.
FORM_AIMS: dict[str, tuple[float | None, float | None]] = {
    "JSON, gzip": (29 / 2 / 10, 7.4 / 5 / 0.7),
    "JSON, gzip, HTTP/2": (None, 4.3 / 5 / 0.7),
    "protobuf": (None, 4.2 / 5 / 0.7),
    "metadata": (8.0 / 2 / 10, 7.7 / 5 / 0.7),
    "metadata, protobuf": (6.2 / 2 / 10, 0.7 / 5 / 0.7),
    "Table": (13.5 / 2 / 10, 19.4 / 5 / 0.7),
}
