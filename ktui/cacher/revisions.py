"""The resourceVersions that a LIST or WATCH asks for, as numbers."""

from __future__ import annotations

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing.model import Decision, TokenState
from ktui.kube.routing.questions import Token


def exact_rv(decision: Decision, options: ListOptions, token: Token) -> int | None:
    """The one that must be read exactly; None when a newer one will do."""
    if decision.consistency != "exact_rv":
        return None
    return token.rv if token.state is TokenState.VALID else int(options.resource_version)


def minimum_rv(options: ListOptions) -> int:
    """The one that an answer must not be older than; 0 for any or the newest."""
    return int(options.resource_version or 0)
