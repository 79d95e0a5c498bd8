"""Ask the authorizer about a request, and deny it with upstream's message."""

from __future__ import annotations

from ktui.apiserver.call import Call
from ktui.apiserver.chain import Authorizer
from ktui.kube.golang.formatting import quote
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.status import StatusError
from ktui.kube.users import Requester


def authorize(authorizer: Authorizer, call: Call) -> None:
    """Record the decision about a request; raise StatusError 403 unless the request is allowed."""
    info, who = call.info, call.who
    # The name that a LIST selects is read for its message only: it takes time.
    attributes = call.attributes
    call.decision = decision = authorizer.decide(who, attributes)
    if not decision.allowed and info.is_resource and not info.name:
        attributes = call.named_attributes
        # A rule may name the only object that is listed.
        call.decision = decision = authorizer.decide(who, attributes)
    if not decision.allowed:
        raise may_not(who, attributes, decision.reason)


def may_not(who: Requester, attributes: RequestAttributes, reason: str = "") -> StatusError:
    """403 (upstream: responsewriters.ForbiddenStatusError)."""
    because = f": {reason}" if reason else ""
    user = f"User {quote(who.user)} cannot {attributes.verb}"
    if attributes.path:
        return StatusError(403, "Forbidden", f"forbidden: {user} path {quote(attributes.path)}{because}", {})
    namespace = attributes.namespace
    where = f"in the namespace {quote(namespace)}" if namespace else "at the cluster scope"
    what = f"{attributes.resource}.{attributes.group}" if attributes.group else attributes.resource
    named = f"{what} {quote(attributes.name)}" if attributes.name else what
    message = (
        f"{named} is forbidden: {user} resource {quote(attributes.full_resource)} "
        f"in API group {quote(attributes.group)} {where}{because}"
    )
    details = {"name": attributes.name, "group": attributes.group, "kind": attributes.resource}
    return StatusError(403, "Forbidden", message, {k: v for k, v in details.items() if v})
