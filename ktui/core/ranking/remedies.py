"""Remedies for a group of requests: the rules' advice, sorted by the predicted saving."""

from __future__ import annotations

from ktui.core.lab.form import sendable, verb_of
from ktui.core.prediction.prediction import WORDS, advised, cheaper_of
from ktui.core.prediction.sizes import estimate, size_in
from ktui.core.ranking.ranking import Group, GroupKey
from ktui.core.ranking.remedy import NO_SAVING, WORTH_SAYING, Burden, Remedy, Saving, to_try
from ktui.core.references import CompareRef, Selection, selection_of
from ktui.core.state import RequestRow, State
from ktui.kube.advice import Advice
from ktui.kube.routing.request import parse_request
from ktui.kube.versions import Behaviour

CHEAPER = "a cheaper variant"  # where the request of a comparison is taken from


def remedies_of(group: Group, state: State) -> list[Remedy]:
    """Return cheaper variants of the group's newest request, largest saving first; none if it is invalid.

    They save enough to be mentioned, or something that is not measured in bytes.
    """
    now, known, found = burden_of(group), advised(group.example, state), []
    if known is None:
        return []
    for advice in known.advice:
        text = cheaper_of(known.request.url, advice)
        remedy = Remedy(
            id=advice.id, change=text.change or advice.why, why=text.why,
            target=advice.path if sendable(advice) else "", route=text.route, now=now,
            then=_predicted(advice, group, known.assumed.behaviour, state),
            accept=dict(advice.headers).get("Accept", ""), verb=verb_of(advice.path),
        )  # fmt: skip
        if remedy.then is None or remedy.saved >= WORTH_SAYING:
            found.append(remedy)
    return sorted(found, key=lambda each: -each.saved)


class Savings:
    """The saving of each group, predicted again after new answers; a few at a time, as each takes a while."""

    def __init__(self) -> None:
        self._known: dict[GroupKey, tuple[int, Saving]] = {}

    def update(self, state: State, most: int) -> bool:
        """Predict up to `most` groups, the unknown ones first; return True if some are left.

        Groups that the ranking has dropped are forgotten.
        """
        groups = state.ranking.ranked()
        kept = {group.key: self._known[group.key] for group in groups if group.key in self._known}
        changed = [group for group in groups if kept.get(group.key, (0, None))[0] != group.count]
        for group in sorted(changed, key=lambda group: group.key in kept)[:most]:
            kept[group.key] = group.count, _saving(group, state)
        self._known = kept
        return len(changed) > most

    def of(self, group: Group) -> Saving | None:
        """Return the saving; None if it is not predicted yet."""
        known = self._known.get(group.key)
        return known[1] if known is not None else None


def _saving(group: Group, state: State) -> Saving:
    """Return the largest saving of bytes processed, or sent by etcd, by advice that can be tried."""
    now, known = burden_of(group), advised(group.example, state)
    if known is None:
        return NO_SAVING
    sent = filter(sendable, known.advice)
    predicted = [_predicted(advice, group, known.assumed.behaviour, state) for advice in sent]
    saved = [max(now.touched - then.touched, now.etcd - then.etcd) for then in predicted if then is not None]
    if not saved or not now.touched or max(saved) < WORTH_SAYING * now.touched:
        return Saving(None) if None in predicted else NO_SAVING
    return Saving(max(saved) * group.count, min(1.0, max(saved) / now.touched))


def compare_group(group: Group, state: State) -> CompareRef:
    """Return the comparison of the group's newest request with the remedy that saves most."""
    original = Selection(group.example.started.verb, group.example.target, "the ranking")
    remedy = to_try(remedies_of(group, state))
    if remedy is None:
        return CompareRef(original)
    variant = Selection(remedy.verb, remedy.target, CHEAPER, accept=remedy.accept)
    return CompareRef(original, variant, remedy.change)


def compare_row(row: RequestRow, state: State) -> CompareRef | None:
    """Return the comparison of a logged request with its first cheaper variant; None if it is no read."""
    original = selection_of(row, "the log")
    if original is None:
        return None
    known = advised(row, state)
    advice = next(filter(sendable, known.advice), None) if known is not None else None
    if known is None or advice is None:
        return CompareRef(original)
    accept, verb = dict(advice.headers).get("Accept", ""), verb_of(advice.path)
    variant = Selection(verb, advice.path, CHEAPER, accept=accept)
    return CompareRef(original, variant, cheaper_of(known.request.url, advice).change)


def burden_of(group: Group) -> Burden:
    """Return the mean bytes that a request of the group processed, as measured."""
    spent, count = group.spent, max(1, group.count)
    return Burden(spent.etcd_bytes / count, spent.processed_bytes / count)


def _predicted(advice: Advice, group: Group, behaviour: Behaviour, state: State) -> Burden | None:
    """Return the predicted bytes of the advised request.

    None for advice that does not save bytes: encodings, access patterns, and pages, whose total is the same.
    """
    if advice.id in (*WORDS, "a.page") or advice.plan.error is not None:
        return None
    shape = group.key.shape
    known = {each: size_in(state, each) for each in (shape.resource, "nodes", "namespaces")}
    sizes = {each: size for each, size in known.items() if size is not None}
    request = parse_request(advice.path, shape.verb)
    return estimate(request, advice.plan, behaviour, shape.resource, sizes)
