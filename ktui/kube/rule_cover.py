"""Which rights of some rules others do not include (upstream: rbac/validation Covers and CompactRules)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import and_

from ktui.kube.golang.formatting import quote
from ktui.kube.rbac import PolicyRule, RuleIndex
from ktui.kube.users import Requester

MOST_COMBINATIONS = 100_000
"""Combinations of group, resource, verb and name that one role is checked for; upstream has no limit."""
MOST_LINES = 1_000


class TooManyCombinations(ValueError):
    """The rules have more than MOST_COMBINATIONS."""

    def __init__(self) -> None:
        super().__init__(
            f"the rules have more than {MOST_COMBINATIONS:,} combinations of group, resource, verb and name: "
            "ktui checks no more; use several roles"
        )


def combinations(rules: Iterable[PolicyRule]) -> int:
    """Return the number of single rights in the rules."""
    return sum(
        len(rule.verbs)
        * (
            len(rule.api_groups) * len(rule.resources) * max(len(rule.resource_names), 1)
            + len(rule.non_resource_urls)
        )
        for rule in rules
    )


def uncovered(owned: Sequence[RuleIndex], wanted: Sequence[PolicyRule]) -> list[PolicyRule]:
    """Return the rights in `wanted` that the roles `owned` lack, one rule for each resource and name or path.

    Raises TooManyCombinations unless each rule is included in one that is owned.
    """
    rest = [rule for rule in wanted if not any(_within_one(index, rule) for index in owned)]
    if combinations(rest) > MOST_COMBINATIONS:
        raise TooManyCombinations
    of_resources: dict[tuple[str, str, str | None], list[str]] = {}
    of_paths = []
    for rule in rest:
        verbs = [(verb, [index.verb(verb) for index in owned]) for verb in rule.verbs]
        for key, owners in _objects(owned, rule):
            if lacking := [verb for verb, allowed in verbs if not any(map(and_, owners, allowed))]:
                of_resources.setdefault(key, []).extend(lacking)
        for path in rule.non_resource_urls:
            owners = [index.path(path) & index.unnamed for index in owned]
            of_paths += [
                PolicyRule((verb,), non_resource_urls=(path,))
                for verb, allowed in verbs
                if not any(map(and_, owners, allowed))
            ]
    found = [
        PolicyRule(tuple(verbs), (group,), (resource,), () if name is None else (name,))
        for (group, resource, name), verbs in of_resources.items()
    ]
    return of_paths + found


def _objects(
    owned: Sequence[RuleIndex], rule: PolicyRule
) -> Iterator[tuple[tuple[str, str, str | None], list[int]]]:
    """Yield each group, resource and name of a rule, with the rules of each role that match whatever the
    verb.
    """
    names: list[tuple[str | None, list[int]]] = [
        (name, [index.name(name) for index in owned]) for name in rule.resource_names
    ]
    names = names or [(None, [index.unnamed for index in owned])]
    resources = [(resource, [index.resource(resource) for index in owned]) for resource in rule.resources]
    for group in rule.api_groups:
        in_group = [index.group(group) for index in owned]
        for resource, matching in resources:
            both = [*map(and_, in_group, matching)]
            for name, named in names:
                yield (group, resource, name), [*map(and_, both, named)]


def _within_one(index: RuleIndex, rule: PolicyRule) -> bool:
    """Whether one rule of a role includes all of `rule`, which then needs no look at its combinations."""
    verbs = [index.verb(verb) for verb in rule.verbs]
    objects = [
        *map(index.group, rule.api_groups),
        *map(index.resource, rule.resources),
        *(map(index.name, rule.resource_names) if rule.resource_names else [index.unnamed]),
    ]
    paths = [index.unnamed, *map(index.path, rule.non_resource_urls)]
    of_resources = bool(rule.api_groups and rule.resources)
    return (not of_resources or bool(reduce(and_, [*verbs, *objects]))) and (
        not rule.non_resource_urls or bool(reduce(and_, [*verbs, *paths]))
    )


def refusal(who: Requester, missing: Iterable[PolicyRule], problems: str = "") -> str:
    """Return why a role may not be granted; `problems` are errors of finding the user's own rules."""
    lines = sorted({described(rule) for rule in missing})
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES:,} more"]
    text = (
        f"user {quote(who.user)} (groups={_listed(who.groups)}) is attempting to grant RBAC permissions not "
        "currently held:\n" + "\n".join(lines)
    )
    return f"{text}; resolution errors: [{problems}]" if problems else text


def described(rule: PolicyRule) -> str:
    """Format `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`; empty lists are left out."""
    parts = (
        ("APIGroups", rule.api_groups),
        ("Resources", rule.resources),
        ("NonResourceURLs", rule.non_resource_urls),
        ("ResourceNames", rule.resource_names),
        ("Verbs", rule.verbs),
    )
    return f"{{{', '.join(f'{name}:{_listed(values)}' for name, values in parts if values)}}}"


def _listed(values: Iterable[str]) -> str:
    """Format a list of strings as Go's `%q`: `["a" "b"]`."""
    return f"[{' '.join(map(quote, values))}]"
