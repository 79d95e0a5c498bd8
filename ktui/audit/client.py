"""The client of a logged request: its program's name, and its account if logged."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 80
_SERVICE_ACCOUNT = "system:serviceaccount:"
# kube-controller-manager's controllers have their account's name at the end of the user agent.
_IN_AGENT = re.compile(r"system:serviceaccount:[-a-z0-9]+:[-a-z0-9.]+")


class Client(NamedTuple):
    """`agent`: the user agent's first word (`kubelet/v1.28.0`), "" without one. `user`: an account,
    `NAMESPACE/NAME` for a ServiceAccount, `system:node:*` for every kubelet, "" if unknown."""

    agent: str
    user: str

    @property
    def account(self) -> str:
        """The user name of a ServiceAccount, "" for other users."""
        return _SERVICE_ACCOUNT + self.user.replace("/", ":") if "/" in self.user else ""


@lru_cache(maxsize=8192)
def client_of(agent: str, user: str) -> Client:
    """Return the client for a user agent and a user name."""
    words = agent.split(None, 1)
    return _client(words[0][:_LONGEST] if words else "", _account(user or _account_in(agent))[:_LONGEST])


_client = lru_cache(maxsize=8192)(Client)  # equal clients are one object, which is faster to look up


def _account_in(agent: str) -> str:
    found = _IN_AGENT.search(agent)
    return found[0] if found else ""


def _account(user: str) -> str:
    if user.startswith(_SERVICE_ACCOUNT):
        return user.removeprefix(_SERVICE_ACCOUNT).replace(":", "/", 1)
    # One group for all nodes: ten thousand kubelets are one client.
    return "system:node:*" if user.startswith("system:node:") else user
