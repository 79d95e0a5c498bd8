"""Strategic merge patch: a merge patch in which lists merge by the rules of their types.

A keyed list merges its items, a list of plain values is a set; all other lists are replaced. Directives say
what else to do: `$patch` (replace, delete), `$retainKeys`, `$deleteFromPrimitiveList/…` and
`$setElementOrder/…`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from ktui.kube.golang.formatting import go_type, go_value
from ktui.kube.json_trees import Obj, hashed
from ktui.wire.schema import NO_RULE, MergeRule, fields_by_name, rule_of

_BAD_RETAIN = "invalid patch format of retainKeys"


def in_order_of(
    merged: list[Any], patch: list[Any], live: list[Any], identity: Callable[[Any], Hashable]
) -> list[Any]:
    """Return the items of `merged`: the patch's in its order, all others in that of the live list.

    What the patch has and the live list lacks comes as early as both orders allow. `identity` tells items
    apart.
    """
    wanted, there = _places(patch, identity), _places(live, identity)
    last = len(merged) + len(live)
    mine = sorted((item for item in merged if identity(item) in wanted), key=lambda i: wanted[identity(i)])
    others = sorted(
        (item for item in merged if identity(item) not in wanted), key=lambda i: there.get(identity(i), last)
    )
    return _merged(others, mine, lambda item: there.get(identity(item)))


def _places(items: list[Any], identity: Callable[[Any], Hashable]) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    for place, item in enumerate(items):
        places.setdefault(identity(item), place)
    return places


def _merged(left: list[Any], right: list[Any], place: Callable[[Any], int | None]) -> list[Any]:
    """Return both lists as one: an item of `left` comes first only if it is known to be before `right`'s."""
    found: list[Any] = []
    at = 0
    for item in right:
        before = place(item)
        while before is not None and at < len(left):
            here = place(left[at])
            if here is None or here >= before:
                break
            found.append(left[at])
            at += 1
        found.append(item)
    return found + left[at:]


DIRECTIVE = "$patch"
DELETE_PRIMITIVES = "$deleteFromPrimitiveList"
ORDER = "$setElementOrder"
RETAIN = "$retainKeys"


class BadDirective(Exception):
    """A directive has an invalid value."""


class BadItem(Exception):
    """A directive is unknown, or items cannot be merged; upstream answers 500."""


class BadList(Exception):
    """A list of lists cannot be merged; upstream answers 422 without details."""


class PatchedField(NamedTuple):
    """A position in an object: a struct, or a map whose values are structs. Without both nothing is known."""

    message: str = ""
    values: str = ""

    def field(self, name: str) -> tuple[PatchedField, MergeRule]:
        """Return the place of a member (of a list: of its items), and its rule."""
        if self.values:
            return PatchedField(self.values), NO_RULE
        field = fields_by_name(self.message).get(name) if self.message else None
        if field is None:
            return PatchedField(), NO_RULE
        kind = field.type if field.kind == "message" else ""
        return PatchedField(values=kind) if field.is_map else PatchedField(kind), rule_of(self.message, name)


def strategic_merge(target: Any, patch: Any, message: str = "") -> Any:
    """Return a new tree. `message` is the type of the object; without it every list is replaced.

    Raises BadDirective, BadItem or BadList.
    """
    if not isinstance(patch, dict):
        return patch
    return _merge_map(target if isinstance(target, dict) else {}, patch, PatchedField(message))


def _merge_map(target: Obj, patch: Obj, at: PatchedField) -> Obj:
    if DIRECTIVE in patch:
        match patch[DIRECTIVE]:
            case "replace":
                return {name: value for name, value in patch.items() if name != DIRECTIVE}
            case "delete":
                return {}
        raise _unknown(patch)
    merged = _retained(target, patch) if RETAIN in patch else dict(target)
    left = {name: value for name, value in patch.items() if name != RETAIN}
    for name in [name for name in left if name.startswith(ORDER)]:
        order = left.pop(name)
        _merge_ordered(merged, left, _named(name, ORDER, "setElementOrder list"), order, at)
    for name, value in left.items():
        if name.startswith(DELETE_PRIMITIVES):
            field = _named(name, DELETE_PRIMITIVES, "primitive list")
            _merge_member(merged, field, value, at, deletes=True)
        else:
            _merge_member(merged, name, value, at)
    return merged


def consumed(patch: Any) -> Any:
    """Return a patch as upstream's errors show it: without the directives that merging takes out of maps."""
    if not isinstance(patch, dict):
        return patch
    if patch.get(DIRECTIVE) == "replace":
        return {name: value for name, value in patch.items() if name != DIRECTIVE}
    orders = [name for name in patch if name.startswith(ORDER)]
    gone = {RETAIN, *orders, *(name.partition("/")[2] for name in orders)}
    return {name: consumed(value) for name, value in patch.items() if name not in gone}


def _unknown(patch: Obj) -> BadItem:
    return BadItem(f"unknown patch type: {go_value(patch[DIRECTIVE])} in map: {go_value(patch)}")


def _named(directive: str, prefix: str, what: str) -> str:
    """Return the name of the list that a directive is about."""
    first, slash, name = directive.partition("/")
    if first != prefix or not slash:
        raise BadDirective(f"invalid patch format of {what}")
    return name


def _retained(target: Obj, patch: Obj) -> Obj:
    """Return the target with the retained members only, which must include those of the patch."""
    if not isinstance(patch[RETAIN], list):
        raise BadDirective(_BAD_RETAIN)
    names = set(map(hashed, patch[RETAIN]))
    for name, value in patch.items():
        directive = name.startswith((RETAIN, DELETE_PRIMITIVES, ORDER))
        if value is not None and not directive and name not in names:
            raise BadDirective(_BAD_RETAIN)
    return {name: value for name, value in target.items() if name in names}


def _merge_member(merged: Obj, name: str, value: Any, at: PatchedField, *, deletes: bool = False) -> None:
    if value is None:
        merged.pop(name, None)
        return
    present = merged.get(name)
    if type(present) is not type(value):
        if not deletes and _is_directive(value):
            merged.pop(name, None)  # a directive about a missing object is dropped with it
        elif not deletes:
            merged[name] = _bare(value)
        return
    below, rule = at.field(name)
    if isinstance(value, dict) and not rule.replaces:
        merged[name] = _merge_map(present or {}, value, below)
    elif isinstance(value, list) and (deletes or rule.merges):
        merged[name] = _merge_list(present or [], value, below, rule.merge_key, deletes=deletes)
    else:
        merged[name] = value


def _bare(value: Any) -> Any:
    """Return the value without members that are null, and without objects that have directives."""
    if isinstance(value, dict):
        kept = {name: member for name, member in value.items() if member is not None}
        return {name: _bare(member) for name, member in kept.items() if not _is_directive(member)}
    if isinstance(value, list):
        return [_bare(item) for item in value if not _is_directive(item)]
    return value


def _is_directive(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value


def _merge_ordered(merged: Obj, left: Obj, name: str, order: Any, at: PatchedField) -> None:
    """Merge a list, and put it in the given order; its patch is taken from `left`."""
    for value in (order, merged.get(name, []), left.get(name, [])):
        if not isinstance(value, list):
            raise BadItem(f"expected a []interface {{}}, but received a {go_type(value)}")
    below, rule = at.field(name)
    key = rule.merge_key
    present, patch = merged.get(name, []), left.get(name, [])
    _check_order(patch, order, key)
    if name not in merged and name not in left:
        return
    if not present and not patch:
        raise BadItem("no elements in any of the given slices")
    if name not in left:
        whole = present
    elif name not in merged:
        whole = _bare(patch)
    else:
        whole = _merge_list(present, patch, below, key) if rule.merges else patch
    left.pop(name, None)
    merged[name] = in_order_of(whole, order, present, _identity(key, [*present, *patch, *order]))


def _check_order(patch: list[Any], order: list[Any], key: str) -> None:
    """Raise BadItem for items of the patch that are not in the order, or not in its order."""
    if not patch or not order:
        return
    wanted = [item for item in patch if not _is_directive(item)]
    identity = _identity(key, [*wanted, *order])
    at = 0
    for item in order:
        if at < len(wanted) and identity(wanted[at]) == identity(item):
            at += 1
    if at < len(wanted):
        lists = f"{go_value(patch)}\n doesn't match {ORDER} list:\n{go_value(order)}"
        raise BadItem(f"The order in patch list:\n{lists}\n")


def _identity(key: str, items: list[Any]) -> Callable[[Any], Hashable]:
    """Return what tells items apart: the key, or the value itself. Raises BadItem for an item without key."""
    if not key:
        return hashed
    for item in items:
        if not isinstance(item, dict):
            raise BadItem(f"expected a map[string]interface {{}}, but received a {go_type(item)}")
        if key not in item and not (DIRECTIVE in item and item[DIRECTIVE] != "delete"):
            raise _no_key(item, key)
    return lambda item: hashed(item.get(key))


def _no_key(item: Obj, key: str) -> BadItem:
    return BadItem(f"map: {go_value(item)} does not contain declared merge key: {key}")


def _merge_list(
    present: list[Any], patch: list[Any], at: PatchedField, key: str, *, deletes: bool = False
) -> list[Any]:
    """Return the merged list: the patch's items in its order, all others where they are."""
    if not present and not patch:
        return present
    _check_types(present, patch)
    if not isinstance((present or patch)[0], dict):
        if deletes:
            gone = set(map(hashed, patch))
            return [item for item in present if hashed(item) not in gone]
        distinct = {hashed(item): item for item in (*present, *patch)}
        return in_order_of(list(distinct.values()), patch, present, hashed)
    if not key:
        raise BadItem("cannot merge lists without merge key for struct")
    present, patch = _by_directives(present, patch, key)
    merged = _merge_items(present, patch, at, key)
    return in_order_of(merged, patch, present, _identity(key, [*merged, *patch]))


def _check_types(present: list[Any], patch: list[Any]) -> None:
    """Raise BadItem for items of several types, BadList for lists (upstream: sliceElementType)."""
    types = [go_type(item) for item in (*present, *patch)]
    if types[0] == go_type([]):
        raise BadList
    if len(set(types)) > 1:
        raise BadItem(f"list element types are not identical: {go_value([present, patch])}")


def _by_directives(present: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Return the list without deleted items, and the patch without directives; replaced: the patch, []."""
    plain, gone, replaced = [], set(), False
    for item in patch:
        match item.get(DIRECTIVE, item):
            case "delete":
                if key not in item:
                    raise _no_key(item, key)
                gone.add(hashed(item[key]))
            case "replace":
                replaced = True
            case "merge":
                raise BadItem("merging lists cannot yet be specified in the patch")
            case _ if DIRECTIVE in item:
                raise _unknown(item)
            case _:
                plain.append(item)
    if replaced:
        return plain, []
    return [item for item in present if key not in item or hashed(item[key]) not in gone], plain


def _merge_items(present: list[Any], patch: list[Any], at: PatchedField, key: str) -> list[Any]:
    merged = list(present)
    places: dict[Hashable, int] = {}  # of the first item with a key
    for place, item in enumerate(present):
        if key in item:
            places.setdefault(hashed(item[key]), place)
    for item in patch:
        if key not in item:
            raise _no_key(item, key)
        place = places.setdefault(hashed(item[key]), len(merged))
        if place < len(merged):
            merged[place] = _merge_map(merged[place], item, at)
        else:
            merged.append(item)
    return merged
