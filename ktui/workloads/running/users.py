"""The users as which clients authenticate, and the tags of requests in their User-Agent.

The user determines a request's flow schema and priority level.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_KUBE_SYSTEM = "system:serviceaccount:kube-system"


class LoadUser(NamedTuple):
    """A user and one of its groups; without a name the run's own user."""

    name: str = ""
    group: str = ""

    def headers(self) -> dict[str, str]:
        headers = {"Impersonate-User": self.name, "Impersonate-Group": self.group}
        return {header: value for header, value in headers.items() if value}


_USERS = {
    "kubelet": LoadUser("system:node:node", "system:nodes"),
    "kube-controller-manager": LoadUser("system:kube-controller-manager"),
    "kube-scheduler": LoadUser("system:kube-scheduler"),
    "cilium-agent": LoadUser(f"{_KUBE_SYSTEM}:cilium"),
    "kube-proxy": LoadUser(f"{_KUBE_SYSTEM}:kube-proxy"),
    "kubectl": LoadUser("jane"),
}


def user_of(agent: str) -> LoadUser:
    """The user of a client by the first word of its User-Agent; unknown clients have a service account."""
    program = agent.partition(" ")[0].partition("/")[0]
    return _USERS.get(program) or LoadUser(f"system:serviceaccount:default:{program.lower()}")


MARK = "ktui-workload"
CAUSE = "caused-by/"  # followed by the resourceVersion of the change that the client reacts to
_TAG = re.compile(rf"{MARK}/(\S+) \(([^;()]*); ([^;()]*); ([^;()]*); ([^;()]*)\)$")
_CAUSE = re.compile(rf" {CAUSE}(\d+) ")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 ._:,/=<>%+-]")


class Tag(NamedTuple):
    """The tag of a request: its run, variant, phase and kind.

    The server's telemetry has the User-Agent of each request. So the server's own figures can be added up by
    phase without a list of request ids, and the request log shows who sent each request. `run` identifies the
    run, `variant` the side of a comparison ("" without one).
    """

    workload: str
    run: str
    variant: str
    phase: str
    label: str

    def user_agent(self, agent: str) -> str:
        """Return `cilium-agent/1.18.2 ktui-workload/agent-boot (7f3a; ; boot; pods)`."""
        if self is UNTAGGED:
            return agent
        workload, *rest = (_NOT_PLAIN.sub("_", part)[:60] for part in self)
        return f"{agent} {MARK}/{workload} ({'; '.join(rest)})"


UNTAGGED = Tag("", "", "", "", "")  # of a client that belongs to no run


def cause_of(user_agent: str) -> str:
    """Return the resourceVersion of the change that a request reacts to, "" if there is none."""
    found = _CAUSE.search(user_agent)
    return found[1] if found else ""


def tag_of(user_agent: str, run: str) -> Tag | None:
    """Return the tag of a request of this run, None for other clients."""
    found = _TAG.search(user_agent)
    if found is None or found[2] != run:
        return None
    return Tag(*found.groups())
