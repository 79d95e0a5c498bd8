"""Authenticated users: name, groups, uid and extra attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MASTERS = "system:masters"
NODES = "system:nodes"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
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


def requester_of(
    user: str, groups: Sequence[str] = (), uid: str = "", extra: Mapping[str, Sequence[str]] = NO_EXTRA
) -> Requester:
    """Return a user with the groups that upstream adds to all users and service accounts it impersonates."""
    if user == ANONYMOUS.user:
        return Requester(user, tuple(dict.fromkeys([*groups, UNAUTHENTICATED])), uid, extra)
    added = [AUTHENTICATED]
    if user.startswith(SERVICE_ACCOUNT) and user.count(":") == 3:
        added = [*service_account_groups(user.split(":")[2]), AUTHENTICATED]
    return Requester(user, tuple(dict.fromkeys([*groups, *added])), uid, extra)


def service_account_groups(namespace: str) -> list[str]:
    return [SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"]


def described(who: Requester) -> str:
    """Format a user with groups: `admin (system:masters, system:authenticated)`."""
    return f"{who.user} ({', '.join(who.groups)})" if who.groups else who.user
