"""The selection of a LIST, WATCH or DELETECOLLECTION: its selectors and its path."""

from __future__ import annotations

from ktui.kube.requestinfo import RequestInfo
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import bad_request
from ktui.storage.objects import SelectionPredicate


def selection_of(labels: LabelSelector, fields: FieldSelector, info: RequestInfo) -> SelectionPredicate:
    """Return the selection by the options and by the path's namespace and name; raise StatusError 400."""
    if info.name and fields.requires("metadata.name") not in (None, info.name):
        raise bad_request("fieldSelector metadata.name doesn't match requested name")
    return SelectionPredicate(
        labels=labels, fields=fields, namespace=info.namespace or None, name=info.name or None
    )
