"""Which run, variant, phase and kind of request a request belongs to: written in its User-Agent.

The server's telemetry carries the User-Agent of each request, so that the server's own figures can be
added up by phase without any list of request ids, and people see in the request log who sent what.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARK = "ktui-workload"
CAUSE = "caused-by/"  # before the resourceVersion of the change that the client reacts to
_TAG = re.compile(rf"{MARK}/(\S+) \(([^;()]*); ([^;()]*); ([^;()]*); ([^;()]*)\)$")
_CAUSE = re.compile(rf" {CAUSE}(\d+) ")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 ._:,/=<>%+-]")


class Tag(NamedTuple):
    """`run` tells runs apart, `variant` the two sides of a comparison ("" without one)."""

    workload: str
    run: str
    variant: str
    phase: str
    label: str

    def user_agent(self, agent: str) -> str:
        """`cilium-agent/1.18.2 ktui-workload/agent-boot (7f3a; ; boot; pods)`."""
        workload, *rest = (_NOT_PLAIN.sub("_", part)[:60] for part in self)
        return f"{agent} {MARK}/{workload} ({'; '.join(rest)})"


def cause_of(user_agent: str) -> str:
    """The resourceVersion of the change that a request reacts to, "" without one."""
    found = _CAUSE.search(user_agent)
    return found[1] if found else ""


def tag_of(user_agent: str, run: str) -> Tag | None:
    """The tag of a request of this run; None for other clients."""
    found = _TAG.search(user_agent)
    if found is None or found[2] != run:
        return None
    return Tag(*found.groups())
