"""Authenticated users: name, groups, uid and extra attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ktui.kube.names import dns_label_faults, subdomain_faults

MASTERS = "system:masters"
NODES = "system:nodes"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
NODE = "system:node:"
SERVICE_ACCOUNT = "system:serviceaccount:"
SERVICE_ACCOUNTS = "system:serviceaccounts"
NO_EXTRA: Mapping[str, Sequence[str]] = {}


class Requester(NamedTuple):
    """The user who sends a request (upstream: user.Info)."""

    user: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = NO_EXTRA

    def document(self) -> dict[str, Any]:
        """Return the UserInfo of authentication.k8s.io/v1; empty members are left out."""
        extra = {name: list(values) for name, values in sorted(self.extra.items())}
        found = {"username": self.user, "uid": self.uid, "groups": list(self.groups), "extra": extra}
        return {name: value for name, value in found.items() if value}


ANONYMOUS = Requester("system:anonymous", (UNAUTHENTICATED,))


def requester_of(user: str, groups: Sequence[str] = ()) -> Requester:
    """Return a user with the groups that authentication adds to all users and to service accounts."""
    added = [AUTHENTICATED]
    if user == ANONYMOUS.user:
        added = [UNAUTHENTICATED]
    elif account := service_account_of(user):
        added = [*service_account_groups(account[0]), AUTHENTICATED]
    return Requester(user, tuple(dict.fromkeys([*groups, *added])))


def service_account_of(user: str) -> tuple[str, str] | None:
    """Return namespace and name of a service account's user name; None for another user."""
    parts = user.removeprefix(SERVICE_ACCOUNT).split(":") if user.startswith(SERVICE_ACCOUNT) else ()
    if len(parts) != 2 or dns_label_faults(parts[0]) or subdomain_faults(parts[1]):
        return None
    return parts[0], parts[1]


def node_of(user: str) -> str:
    """Return the node's name in a kubelet's user name; "" for another user."""
    name = user.removeprefix(NODE) if user.startswith(NODE) else ""
    return "" if not name or subdomain_faults(name) else name


def service_account_groups(namespace: str) -> list[str]:
    return [SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"]


def described(who: Requester) -> str:
    """Format a user with groups: `admin (system:masters, system:authenticated)`."""
    return f"{who.user} ({', '.join(who.groups)})" if who.groups else who.user
