"""Validate combinations of list options (upstream: ValidateListOptions, storage.ValidateListOptions)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.kube.fielderrors import FieldError, forbidden, invalid_object, not_supported
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import Resource
from ktui.kube.selectors import FieldSelector, LabelSelector

if TYPE_CHECKING:
    from ktui.kube.versions import Behaviour

EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"
_MATCH = "resourceVersionMatch"
_STREAMING_SINCE = 27  # sendInitialEvents exists since 1.27


def validate_list(options: ListOptions, behaviour: Behaviour) -> None:
    """Validate the options of a LIST; raise StatusError 422 with every cause."""
    errors = _match_errors(options)
    if options.send_initial_events is not None and behaviour.minor >= _STREAMING_SINCE:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    _raise(errors)


def validate_watch(options: ListOptions, behaviour: Behaviour) -> None:
    """Validate the options of a WATCH after `with_watch_defaults`; raise StatusError 422 with every cause."""
    if behaviour.minor < _STREAMING_SINCE:
        errors = _match_errors(options)
        if options.resource_version_match:
            errors.insert(0, forbidden(_MATCH, "resourceVersionMatch is forbidden for watch"))
        _raise(errors)
    else:
        _raise(_streaming_errors(options, behaviour) + _watch_match_errors(options))


def read_list(
    options: ListOptions, behaviour: Behaviour, resource: Resource
) -> tuple[LabelSelector, FieldSelector]:
    """Return the selectors of a LIST or DELETECOLLECTION; raise StatusError, checking in upstream's order.

    The syntax of both selectors (400), then the options (422), then the resource's fields (400).
    """
    labels, fields = LabelSelector.parse(options.label_selector), FieldSelector.parse(options.field_selector)
    validate_list(options, behaviour)
    return labels, fields.for_resource(resource)


def read_watch(
    options: ListOptions, behaviour: Behaviour, resource: Resource
) -> tuple[LabelSelector, FieldSelector]:
    """Return the selectors of a WATCH after `with_watch_defaults`, with the checks of `read_list`."""
    labels, fields = LabelSelector.parse(options.label_selector), FieldSelector.parse(options.field_selector)
    validate_watch(options, behaviour)
    return labels, fields.for_resource(resource)


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
    if not behaviour.watch_list:
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
