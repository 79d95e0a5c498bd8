"""The reviews of authorization.k8s.io: may a user do this, and what may I do?"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from ktui.apiserver.call import Call
from ktui.apiserver.chain import Decision
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import FieldError, invalid, invalid_object, unfit
from ktui.kube.golang.formatting import to_json
from ktui.kube.json_trees import Obj
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.resources import Resource
from ktui.kube.status import bad_request
from ktui.kube.users import Requester
from ktui.telemetry.off_loop import compute
from ktui.writes.request_body import answer_review, sent_review

CHOICES = "resourceAttributes", "nonResourceAttributes"


async def of_myself(server: Server, call: Call, resource: Resource) -> None:
    """SelfSubjectAccessReview: whether the client may do this (`kubectl auth can-i`)."""
    form, review = await sent_review(server, call, resource)
    _check(resource, list(_spec_errors(_spec(review))))
    review["status"] = _status(server.services.authorizer.decide(call.who, _attributes(_spec(review))))
    await answer_review(server, call, resource, review, form)


async def of_anyone(server: Server, call: Call, resource: Resource) -> None:
    """SubjectAccessReview and, in one namespace, LocalSubjectAccessReview; StatusError 400, 422."""
    form, review = await sent_review(server, call, resource)
    spec = _spec(review)
    errors = [*_spec_errors(spec)]
    if not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    _check(resource, errors)
    if resource.namespaced:
        _check_namespace(call.info.namespace, review, spec)
    user, groups, uid = (spec.get(name) or "" for name in ("user", "groups", "uid"))
    who = Requester(str(user), tuple(groups), str(uid), spec.get("extra") or {})
    review["status"] = _status(await compute(server.services.authorizer.decide, who, _attributes(spec)))
    await answer_review(server, call, resource, review, form)


async def my_rules(server: Server, call: Call, resource: Resource) -> None:
    """SelfSubjectRulesReview; StatusError 400 without a namespace."""
    form, review = await sent_review(server, call, resource)
    namespace = _spec(review).get("namespace")
    if not namespace:
        raise bad_request("no namespace on request")
    call.meter.large = True  # roles may have thousands of rules
    rules = server.services.authorizer.rules
    review["status"] = await compute(lambda: Raw(to_json(rules(call.who, namespace))))
    await answer_review(server, call, resource, review, form)


def _spec(review: Obj) -> Obj:
    spec: Obj = review.setdefault("spec", {})
    return spec


def _attributes(spec: Obj) -> RequestAttributes:
    if (found := spec.get("nonResourceAttributes")) is not None:
        return RequestAttributes(found.get("verb", ""), path=found.get("path", ""))
    found = spec["resourceAttributes"]
    names = ("verb", "group", "resource", "subresource", "namespace", "name", "version")
    return RequestAttributes(**{name: found.get(name) or "" for name in names})


def _status(decision: Decision) -> Obj:
    found: Obj = {"allowed": decision.allowed}
    return found | ({"reason": decision.reason} if decision.reason else {})


def _check(resource: Resource, errors: list[FieldError]) -> None:
    if errors:
        raise invalid_object(resource.kind, resource.group, "", errors)


def _spec_errors(spec: Obj) -> Iterator[FieldError]:
    given = [name for name in CHOICES if spec.get(name) is not None]
    if len(given) == 2:
        why = "cannot be specified in combination with resourceAttributes"
        yield unfit("spec.nonResourceAttributes", why)
    if not given:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid("spec.resourceAttributes", None, why)


def _check_namespace(namespace: str, review: Obj, spec: Obj) -> None:
    """Raise StatusError 400 unless a LocalSubjectAccessReview is about its own namespace."""
    requested = (spec.get("resourceAttributes") or {}).get("namespace", "")
    if requested != namespace:
        found = (review.get("metadata") or {}).get("namespace") or namespace
        raise bad_request(f"spec.resourceAttributes.namespace must match namespace: {found}")
