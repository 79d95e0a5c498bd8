"""Three moments of the recorded pages of a real kube-apiserver 1.36.2 (two replicas), and what was sent.

The pages hold the families that ktui reads; `truth` is the load between the first and the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from tools.fidelity import pages
from tools.fidelity.known_load import truth
from tools.fidelity.pages import IDLE, Answer, serving_pages

__all__ = [
    "FIRST", "IDLE", "LAST", "MIDDLE", "REDUCED", "Answer", "Recorded", "answers", "lists_sent", "metrics",
    "serving", "truth",
]  # fmt: skip

REDUCED = Path(__file__).parent / "data" / "pages-1.36.jsonl.xz"
FIRST, MIDDLE, LAST = 0, 1, 2
serving = serving_pages


@dataclass
class Recorded(pages.Recorded):
    """A load balancer over the replicas, at three moments unless told otherwise."""

    file: Path = REDUCED


@cache
def answers(replica: int, path: str, user: str = "admin", file: Path = REDUCED) -> list[Answer]:
    """What that replica answered to it, oldest first."""
    return pages.answers(replica, path, user, file)


def metrics(replica: int, moment: int) -> bytes:
    return answers(replica, "/metrics")[moment][2]


def lists_sent(resource: str) -> dict[str, int]:
    """LISTs that were answered 200, by route, both replicas together."""
    sent: dict[str, int] = {}
    for request in truth()["requests"]:
        if urlsplit(request["path"]).path.endswith(f"/{resource}"):
            route = request["route"]
            sent[route] = sent.get(route, 0) + request["statuses"].get("200", 0)
    return sent
