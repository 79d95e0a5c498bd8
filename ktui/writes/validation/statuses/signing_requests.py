"""Conditions and certificates of signing requests: what the server keeps, sets and refuses.

`/approval` changes the conditions, `/status` the others and the certificate.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, limited, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.certificates import certificate_fault
from ktui.writes.validation.values.checks import duplicate

_DECISIONS = ("Approved", "Denied")
_FINAL = (*_DECISIONS, "Failed")
_STATES = ("False", "True", "Unknown")
_AT, _CERTIFICATE = "status.conditions", "status.certificate"
_ONE_DECISION = "Approved and Denied conditions are mutually exclusive"


def _type(condition: Obj) -> str:
    return condition.get("type") or ""


def _conditions(obj: Obj) -> list[Obj]:
    return (obj.get("status") or {}).get("conditions") or []


def with_decisions(was: Obj, now: Obj) -> Obj:
    """Return the new status with the old decisions, if there are as many (preserveConditionInstances)."""
    conditions = list(now.get("conditions") or [])
    for kind in _DECISIONS:
        old = [each for each in was.get("conditions") or [] if _type(each) == kind]
        places = [at for at, each in enumerate(conditions) if _type(each) == kind]
        for at, each in zip(places, old, strict=False) if len(places) == len(old) else ():
            conditions[at] = each
    return {**now, "conditions": conditions} if conditions else now


def with_times(was: Obj, now: Obj, time: str) -> Obj:
    """Return the new status with times in all of its conditions (populateConditionTimestamps)."""
    since: dict[tuple[str, str], str] = {}
    for each in was.get("conditions") or []:
        if changed := each.get("lastTransitionTime"):
            since.setdefault((_type(each), each.get("status") or ""), changed)
    conditions = [
        {
            **each,
            "lastUpdateTime": each.get("lastUpdateTime") or time,
            "lastTransitionTime": each.get("lastTransitionTime")
            or since.get((_type(each), each.get("status") or ""), time),
        }
        for each in now.get("conditions") or []
    ]
    return {**now, "conditions": conditions} if conditions else now


@limited
def approval(old: Obj, new: Obj) -> Iterator[FieldError]:
    yield from _values(old, new)
    yield from _removed(old, new)


@limited
def status(old: Obj, new: Obj) -> Iterator[FieldError]:
    yield from _values(old, new)
    yield from _removed(old, new)
    for kind in _DECISIONS:
        if _count(new, kind) > _count(old, kind):
            yield forbidden(_AT, f'updates may not add a condition of type "{kind}"')
    before, after = ((obj.get("status") or {}).get("certificate") or "" for obj in (old, new))
    if before and before != after:
        yield forbidden(_CERTIFICATE, "updates may not modify existing certificate content")


def _values(old: Obj, new: Obj) -> Iterator[FieldError]:
    """Check conditions and certificate; faults that the old request has are tolerated."""
    yield from _condition_errors(_conditions(old), _conditions(new))
    before, after = ((obj.get("status") or {}).get("certificate") or "" for obj in (old, new))
    if before == after or certificate_fault(b64decode(before)):
        return
    if fault := certificate_fault(b64decode(after)):
        yield invalid(_CERTIFICATE, "<certificate data>", fault)


def _condition_errors(was: list[Obj], now: list[Obj]) -> Iterator[FieldError]:
    known = [_type(each) for each in was]
    nameless, repeated = "" in known, len(set(known)) < len(known)
    decided_both = all(kind in known for kind in _DECISIONS)
    seen: set[str] = set()
    for at, each in enumerate(now):
        kind, state = _type(each), each.get("status") or ""
        states = _STATES[1:2] if kind in _FINAL else _STATES
        if not kind and not nameless:
            yield required(f"{_AT}[{at}].type")
        if not state:
            yield required(f"{_AT}[{at}].status")
        elif state not in states:
            yield not_supported(f"{_AT}[{at}].status", state, states)
        if kind in _DECISIONS and not decided_both and seen & (set(_DECISIONS) - {kind}):
            yield invalid(_AT, kind, _ONE_DECISION)
        if kind in seen and not repeated:
            yield duplicate(f"{_AT}[{at}].type", kind)
        seen.add(kind)


def _removed(old: Obj, new: Obj) -> Iterator[FieldError]:
    for kind in _FINAL:
        if _count(new, kind) < _count(old, kind):
            yield forbidden(_AT, f'updates may not remove a condition of type "{kind}"')


def _count(obj: Obj, kind: str) -> int:
    return sum(_type(each) == kind for each in _conditions(obj))
