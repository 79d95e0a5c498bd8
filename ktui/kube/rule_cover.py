"""Which rights of some rules others do not include (upstream: rbac/validation Covers and CompactRules)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import and_

from ktui.kube.golang.formatting import quote
from ktui.kube.rbac import ALL, PolicyRule
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


class _Index:
    """For each value the rules that match it, as the bits of a number; a right needs one bit in common."""

    def __init__(self, rules: Sequence[PolicyRule]) -> None:
        self._verbs: dict[str, int] = {}
        self._groups: dict[str, int] = {}
        self._resources: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        self.unnamed = 0
        for number, rule in enumerate(rules):
            bit = 1 << number
            for values, index in (
                (rule.verbs, self._verbs),
                (rule.api_groups, self._groups),
                (rule.resources, self._resources),
                (rule.resource_names, self._names),
                (rule.non_resource_urls, self._paths),
                ([u.rstrip(ALL) for u in rule.non_resource_urls if u.endswith(ALL)], self._prefixes),
            ):
                for value in values:
                    index[value] = index.get(value, 0) | bit
            if not rule.resource_names:
                self.unnamed |= bit
        self._lengths = {len(prefix) for prefix in self._prefixes}

    def verb(self, verb: str) -> int:
        return self._verbs.get(ALL, 0) | self._verbs.get(verb, 0)

    def group(self, group: str) -> int:
        return self._groups.get(ALL, 0) | self._groups.get(group, 0)

    def resource(self, resource: str) -> int:
        found = self._resources.get(ALL, 0) | self._resources.get(resource, 0)
        _, slash, subresource = resource.partition("/")
        return found | self._resources.get(f"*/{subresource}", 0) if slash else found

    def name(self, name: str) -> int:
        return self.unnamed | self._names.get(name, 0)

    def path(self, path: str) -> int:
        found = self._paths.get(path, 0)
        for length in self._lengths:
            found |= self._prefixes.get(path[:length], 0)
        return found


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


def uncovered(owned: Sequence[PolicyRule], wanted: Sequence[PolicyRule]) -> list[PolicyRule]:
    """Return the rights in `wanted` that `owned` lacks, one rule for each resource and name or path.

    Raises TooManyCombinations unless each rule is included in one that is owned.
    """
    index = _Index(owned)
    rest = [rule for rule in wanted if not _within_one(index, rule)]
    if combinations(rest) > MOST_COMBINATIONS:
        raise TooManyCombinations
    of_resources: dict[tuple[str, str, str | None], list[str]] = {}
    of_paths = []
    for rule in rest:
        verbs = [(verb, index.verb(verb)) for verb in rule.verbs]
        for key, owners in _objects(index, rule):
            if lacking := [verb for verb, allowed in verbs if not owners & allowed]:
                of_resources.setdefault(key, []).extend(lacking)
        for path in rule.non_resource_urls:
            owners = index.path(path) & index.unnamed
            of_paths += [
                PolicyRule((verb,), non_resource_urls=(path,))
                for verb, allowed in verbs
                if not owners & allowed
            ]
    found = [
        PolicyRule(tuple(verbs), (group,), (resource,), () if name is None else (name,))
        for (group, resource, name), verbs in of_resources.items()
    ]
    return of_paths + found


def _objects(index: _Index, rule: PolicyRule) -> Iterator[tuple[tuple[str, str, str | None], int]]:
    """Yield each group, resource and name of a rule, with the rules that match it whatever the verb."""
    names: list[tuple[str | None, int]] = [(name, index.name(name)) for name in rule.resource_names]
    names = names or [(None, index.unnamed)]
    resources = [(resource, index.resource(resource)) for resource in rule.resources]
    for group in rule.api_groups:
        in_group = index.group(group)
        for resource, matching in resources:
            for name, named in names:
                yield (group, resource, name), in_group & matching & named


def _within_one(index: _Index, rule: PolicyRule) -> bool:
    """Whether one rule includes all of `rule`, which then needs no look at its combinations."""
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
