"""The options of reads, decoded from a query string as kube-apiserver decodes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ktui.kube.fielderrors import FieldError, forbidden, invalid_object, not_supported
from ktui.kube.gates import SHARDED
from ktui.kube.golang.formatting import NumError, parse_int
from ktui.kube.requestinfo import boolean, first_values
from ktui.kube.resources import Resource
from ktui.kube.selectors import FieldSelector, LabelSelector, ShardSelector
from ktui.kube.status import bad_request

if TYPE_CHECKING:
    from ktui.kube.versions import Behaviour

PARAMETERS = (
    "labelSelector", "fieldSelector", "watch", "allowWatchBookmarks", "resourceVersion",
    "resourceVersionMatch", "timeoutSeconds", "limit", "continue", "sendInitialEvents", "shardSelector",
)  # fmt: skip
# Not reported as unknown: those, and parameters that other layers read.
_KNOWN = frozenset({
    *PARAMETERS, "pretty", "includeObject", "timeout", "dryRun", "gracePeriodSeconds", "orphanDependents",
    "propagationPolicy", "ignoreStoreReadErrorWithClusterBreakingPotential",
})  # fmt: skip
_KNOWN_ON_GET = frozenset({"resourceVersion", "pretty", "includeObject", "timeout"})


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Options of LIST, WATCH and DELETECOLLECTION, and of GET, which has only `resource_version`.

    Selectors are raw text.

    `unknown` are the parameters that kube-apiserver silently ignores, in the query's order: a misspelt
    `filedSelector` turns a narrow LIST into a full one.
    """

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout_seconds: int | None = None
    watch: bool = False
    unknown: tuple[str, ...] = ()
    shard_selector: str = ""


@lru_cache(maxsize=16)
def parse_list_options(query: str) -> ListOptions:
    """Decode a raw query; raise StatusError 400 with strconv's text for an invalid number.

    Cached like the query's pairs: flow control reads the options for the work estimate, then the handler
    does.
    """
    values = first_values(query)
    # Upstream's decoding order: the first invalid number is reported.
    timeout = _integer(values, "timeoutSeconds")
    limit = _integer(values, "limit")
    return ListOptions(
        label_selector=values.get("labelSelector", ""),
        field_selector=values.get("fieldSelector", ""),
        limit=limit or 0,
        continue_=values.get("continue", ""),
        resource_version=values.get("resourceVersion", ""),
        resource_version_match=values.get("resourceVersionMatch", ""),
        allow_watch_bookmarks=bool(_boolean(values, "allowWatchBookmarks")),
        send_initial_events=_boolean(values, "sendInitialEvents"),
        timeout_seconds=timeout,
        watch=bool(_boolean(values, "watch")),
        shard_selector=values.get("shardSelector", ""),
        unknown=tuple(key for key in values if key not in _KNOWN),
    )


@lru_cache(maxsize=256)
def parse_get_options(query: str) -> ListOptions:
    """Decode the raw query of a GET, which ignores resourceVersionMatch."""
    values = first_values(query)
    unknown = tuple(key for key in values if key not in _KNOWN_ON_GET)
    return ListOptions(resource_version=values.get("resourceVersion", ""), unknown=unknown)


def with_watch_defaults(options: ListOptions, *, watch_list: bool) -> ListOptions:
    """Return the options with upstream's defaults: a WATCH from unset or "0" becomes a streaming list if
    WatchList is on (1.32, 1.34+).
    """
    explicit = options.send_initial_events is not None or options.resource_version_match
    if not watch_list or not options.watch or explicit or options.resource_version not in ("", "0"):
        return options
    return replace(options, send_initial_events=True, resource_version_match="NotOlderThan")


def _integer(values: dict[str, str], key: str) -> int | None:
    if key not in values:
        return None
    try:
        return parse_int(values[key])
    except NumError as error:
        raise bad_request(str(error)) from None


def _boolean(values: dict[str, str], key: str) -> bool | None:
    return boolean(values[key]) if key in values else None


EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"
_MATCH = "resourceVersionMatch"


def validate_list(options: ListOptions, behaviour: Behaviour) -> None:
    """Validate the options of a LIST; raise StatusError 422 with every cause."""
    errors = _match_errors(options)
    if options.send_initial_events is not None and behaviour.minor >= 27:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    _raise(errors)


def validate_watch(options: ListOptions, behaviour: Behaviour) -> None:
    """Validate the options of a WATCH after `with_watch_defaults`; raise StatusError 422 with every cause."""
    if behaviour.minor < 27:  # sendInitialEvents does not exist yet
        errors = _match_errors(options)
        if options.resource_version_match:
            errors.insert(0, forbidden(_MATCH, "resourceVersionMatch is forbidden for watch"))
        _raise(errors)
    else:
        _raise(_streaming_errors(options, behaviour) + _watch_match_errors(options))


def read_list(
    options: ListOptions,
    behaviour: Behaviour,
    resource: Resource,
    validate: Callable[[ListOptions, Behaviour], None] = validate_list,
) -> tuple[LabelSelector, FieldSelector]:
    """Return the selectors of a LIST or DELETECOLLECTION; raise StatusError, checking in upstream's order.

    The syntax of both selectors (400), then the options (422), then the resource's fields (400).
    """
    labels, fields = LabelSelector.parse(options.label_selector), FieldSelector.parse(options.field_selector)
    validate(options, behaviour)
    return labels, fields.for_resource(resource)


def read_watch(
    options: ListOptions, behaviour: Behaviour, resource: Resource
) -> tuple[LabelSelector, FieldSelector]:
    """Return the selectors of a WATCH after `with_watch_defaults`, with the checks of `read_list`."""
    return read_list(options, behaviour, resource, validate_watch)


def read_shards(options: ListOptions, behaviour: Behaviour) -> ShardSelector | None:
    """Return the shard of a LIST, WATCH or DELETECOLLECTION; None without one, or without its gate.

    Checked after everything else. Raises StatusError 500.
    """
    if not options.shard_selector or not behaviour.enabled(SHARDED):
        return None
    return ShardSelector.parse(options.shard_selector)


def _match_errors(options: ListOptions) -> list[FieldError]:
    match = options.resource_version_match
    if not match:
        return []
    errors = []
    if not options.resource_version:
        errors.append(
            forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided")
        )
    if options.continue_:
        errors.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    if match not in (EXACT, NOT_OLDER_THAN):
        errors.append(not_supported(_MATCH, match, (EXACT, NOT_OLDER_THAN, "")))
    if match == EXACT and options.resource_version == "0":
        detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        errors.append(forbidden(_MATCH, detail))
    return errors


def _streaming_errors(options: ListOptions, behaviour: Behaviour) -> list[FieldError]:
    errors: list[FieldError] = []
    if options.send_initial_events is None:
        return errors
    if options.resource_version_match != NOT_OLDER_THAN:
        detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(forbidden(_MATCH, detail))
    if not behaviour.enabled("WatchList"):
        detail = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
        errors.append(forbidden("sendInitialEvents", detail))
    return errors


def _watch_match_errors(options: ListOptions) -> list[FieldError]:
    match = options.resource_version_match
    if not match:
        return []
    errors = []
    if options.send_initial_events is None:
        detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        errors.append(forbidden(_MATCH, detail))
    if match != NOT_OLDER_THAN:
        errors.append(not_supported(_MATCH, match, (NOT_OLDER_THAN,)))
    if options.continue_:
        errors.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    return errors


def _raise(errors: list[FieldError]) -> None:
    if errors:
        raise invalid_object("ListOptions", "meta.k8s.io", "", errors)
