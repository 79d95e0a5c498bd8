"""The reviews of authorization.k8s.io: may a user do this, and what may I do?"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import FieldError, invalid, invalid_object, required
from ktui.kube.golang.formatting import to_json
from ktui.kube.json_trees import Obj
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.resources import Resource
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError, bad_request
from ktui.kube.users import Requester
from ktui.telemetry.off_loop import compute
from ktui.writes.objectmeta import metadata_of
from ktui.writes.request_body import answer_review, sent_review
from ktui.writes.validation.selectors import (
    WITH_VALUES,
    WITHOUT_VALUES,
    operator_errors,
    requirement_errors,
)

CHOICES = "resourceAttributes", "nonResourceAttributes"


async def of_myself(server: Server, call: Call, resource: Resource) -> None:
    """SelfSubjectAccessReview: whether the client may do this (`kubectl auth can-i`)."""
    form, review = await _sent(server, call, resource)
    _check(resource, await compute(lambda: [*_spec_errors(_spec(review)), *_metadata_errors(review)]))
    await _decide(server, call, resource, review, form, call.who)


async def of_anyone(server: Server, call: Call, resource: Resource) -> None:
    """SubjectAccessReview and, in one namespace, LocalSubjectAccessReview; StatusError 400, 422."""
    form, review = await _sent(server, call, resource)
    spec = _spec(review)
    local = resource.namespaced
    errors = await compute(
        lambda: [*_spec_errors(spec, of_user=True), *_metadata_errors(review, local=local)]
    )
    if local:
        errors += _namespace_errors(review, spec)
    _check(resource, errors)
    user, groups, uid = (spec.get(name) or "" for name in ("user", "groups", "uid"))
    who = Requester(str(user), tuple(groups), str(uid), spec.get("extra") or {})
    await _decide(server, call, resource, review, form, who)


async def my_rules(server: Server, call: Call, resource: Resource) -> None:
    """SelfSubjectRulesReview; StatusError 400 without a namespace. As upstream, the spec is not answered."""
    form, review = await sent_review(server, call, resource)
    namespace = _spec(review).get("namespace")
    if not namespace:
        raise bad_request("no namespace on request")
    call.meter.large = True  # roles may have thousands of rules
    rules = server.services.authorizer.rules
    answer = {"spec": {}, "status": await compute(lambda: Raw(to_json(rules(call.who, namespace))))}
    await answer_review(server, call, resource, answer, form)


async def _sent(server: Server, call: Call, resource: Resource) -> tuple[Form, Obj]:
    """Return the form of the answer and the review, without selectors where the version has none."""
    form, review = await sent_review(server, call, resource)
    if not call.behaviour.enabled("AuthorizeWithSelectors"):
        for name in SELECTORS:
            (_spec(review).get("resourceAttributes") or {}).pop(name, None)
    return form, review


async def _decide(
    server: Server, call: Call, resource: Resource, review: Obj, form: Form, who: Requester
) -> None:
    """Answer a review with what the authorizer decides about `who`."""
    spec = _spec(review)
    decision = await compute(server.services.authorizer.decide, who, _attributes(spec))
    status: Obj = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    if faults := await compute(lambda: [*_selector_faults(spec.get("resourceAttributes") or {})]):
        status["evaluationError"] = "; ".join(faults)
    review["status"] = status
    await answer_review(server, call, resource, review, form)


def _spec(review: Obj) -> Obj:
    spec: Obj = review.setdefault("spec", {})
    return spec


def _attributes(spec: Obj) -> RequestAttributes:
    if (found := spec.get("resourceAttributes")) is None:
        found = spec["nonResourceAttributes"]
        return RequestAttributes(found.get("verb", ""), path=found.get("path", ""))
    names = ("verb", "group", "resource", "subresource", "namespace", "name", "version")
    return RequestAttributes(**{name: found.get(name) or "" for name in names})


def _check(resource: Resource, errors: list[FieldError]) -> None:
    """Raise StatusError 422; as upstream, which has lost it by then, without the kind."""
    if errors:
        raise invalid_object("", resource.group, "", errors)


def _spec_errors(spec: Obj, *, of_user: bool = False) -> Iterator[FieldError]:
    given = [name for name in CHOICES if spec.get(name) is not None]
    if len(given) == 2:
        why = "cannot be specified in combination with resourceAttributes"
        yield invalid("spec.nonResourceAttributes", _shown(spec), why)
    if not given:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid("spec.resourceAttributes", None, why)
    if of_user and not spec.get("user") and not spec.get("groups"):
        yield invalid("spec.user", "", "at least one of user or group must be specified")
    attributes = spec.get("resourceAttributes") or {}
    for name in SELECTORS:
        if (selector := attributes.get(name)) is not None:
            yield from _selector_errors(selector, f"spec.resourceAttributes.{name}", labels=name == LABELS)


def _shown(spec: Obj) -> Obj:
    found = spec["nonResourceAttributes"]
    return {"Path": found.get("path", ""), "Verb": found.get("verb", "")}


# In the order of the type; the server has removed its own members.
_METADATA = (
    "name", "generateName", "namespace", "resourceVersion", "generation", "labels", "annotations",
    "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip

_ENTRY = ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource")


def _in_order(obj: Obj, names: tuple[str, ...]) -> Obj:
    return {name: obj[name] for name in names if name in obj}


def _metadata_errors(review: Obj, *, local: bool = False) -> Iterator[FieldError]:
    allowed = {"managedFields"} | ({"namespace"} if local else set())
    if metadata_of(review).keys() - allowed:
        shown = _in_order(metadata_of(review), _METADATA)
        if "managedFields" in shown:
            shown["managedFields"] = [_in_order(entry, _ENTRY) for entry in shown["managedFields"]]
        yield invalid("metadata", shown, "must be empty" + (EXCEPT if local else ""))


def _namespace_errors(review: Obj, spec: Obj) -> Iterator[FieldError]:
    attributes = spec.get("resourceAttributes")
    if attributes is not None and attributes.get("namespace", "") != metadata_of(review)["namespace"]:
        path = "spec.resourceAttributes.namespace"
        yield invalid(path, attributes.get("namespace", ""), "must match metadata.namespace")
    if spec.get("nonResourceAttributes") is not None:
        yield invalid("spec.nonResourceAttributes", _shown(spec), "disallowed on this kind of request")


# Selectors of the objects that a LIST or WATCH would ask for: RBAC decides without them.

FIELDS, LABELS = SELECTORS = "fieldSelector", "labelSelector"
EXCEPT = " except for namespace"


def _selector_errors(selector: Obj, path: str, *, labels: bool) -> Iterator[FieldError]:
    raw, requirements = selector.get("rawSelector", ""), selector.get("requirements") or []
    if raw and requirements:
        yield invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")
    if not raw and not requirements:
        why = f"when {path} is specified, requirements or rawSelector is required"
        yield required(f"{path}.requirements", why)
    for number, requirement in enumerate(requirements):
        place = f"{path}.requirements[{number}]"
        if not labels and not requirement.get("key"):
            yield required(f"{place}.key", "must be specified")
        if requirement.get("operator") in WITH_VALUES + WITHOUT_VALUES:  # a newer client may know others
            yield from operator_errors(requirement, place)
        if labels:
            yield from requirement_errors(requirement, place)


def _selector_faults(attributes: Obj) -> Iterator[str]:
    """Yield for each selector whether it, or a part of it, cannot be understood."""
    for name in SELECTORS:
        selector = attributes.get(name)
        if selector is None:
            continue
        understood = [_understood(each, labels=name == LABELS) for each in selector.get("requirements") or []]
        if raw := selector.get("rawSelector", ""):
            understood = [_parses(raw, labels=name == LABELS)]
        if not all(understood):
            partially = "partially " if any(understood) else ""
            yield f"spec.resourceAttributes.{name} {partially}ignored due to parse error"


def _understood(requirement: Obj, *, labels: bool) -> bool:
    operator = requirement.get("operator", "")
    if labels:
        return operator in WITH_VALUES + WITHOUT_VALUES
    return operator in WITH_VALUES and len(requirement.get("values") or []) == 1


def _parses(text: str, *, labels: bool) -> bool:
    try:
        (LabelSelector if labels else FieldSelector).parse(text)
    except StatusError:
        return False
    return True
