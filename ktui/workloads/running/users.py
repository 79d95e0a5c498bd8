"""The users as which clients authenticate; they determine a request's flow schema and priority level."""

from __future__ import annotations

from typing import NamedTuple

_KUBE_SYSTEM = "system:serviceaccount:kube-system"


class LoadUser(NamedTuple):
    """A user and one of its groups; without a name the run's own user."""

    name: str = ""
    group: str = ""

    def headers(self) -> dict[str, str]:
        """Return the headers of impersonation, as `kubectl --as` sends them."""
        return {
            header: value
            for header, value in (("Impersonate-User", self.name), ("Impersonate-Group", self.group))
            if value
        }


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
