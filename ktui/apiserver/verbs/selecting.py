"""Selectors of LIST, WATCH and DELETECOLLECTION."""

from __future__ import annotations

from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import Resource
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.storage.selection import Selection


def selection_of(options: ListOptions, resource: Resource, namespace: str, name: str) -> Selection:
    """What the options select, and the namespace and name that the path demands; StatusError 400."""
    return Selection(
        labels=LabelSelector.parse(options.label_selector),
        fields=FieldSelector.parse(options.field_selector, resource),
        namespace=namespace or None,
        name=name or None,
    )
