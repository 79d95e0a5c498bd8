"""LISTs as the routing rules see them."""

from __future__ import annotations

from typing import NamedTuple

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing.parameters import NO_TOKEN, DecodedToken, RequestScope, TokenState


class Question(NamedTuple):
    """What `decide_list` is asked, without the cache and the version."""

    options: ListOptions
    scope: RequestScope
    token: DecodedToken


def asked(
    resource_version: str = "",
    match: str = "",
    limit: int = 0,
    token: DecodedToken = NO_TOKEN,
    selectors: bool = False,
    recursive: bool = True,
    send_initial_events: bool = False,
    narrowed: bool = False,
) -> Question:
    options = ListOptions(
        resource_version=resource_version,
        resource_version_match=match,
        limit=limit,
        continue_="" if token.state is TokenState.NONE else "token",
        send_initial_events=True if send_initial_events else None,
    )
    scope = RequestScope("", "", single=not recursive, narrowed=narrowed, selective=selectors)
    return Question(options, scope, token)
