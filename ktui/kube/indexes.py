"""Lookups that kube-apiserver's watch cache answers without scanning all objects of a resource."""

from __future__ import annotations

NODE_NAME = "spec.nodeName"
"""The indexed field of pods; no other resource has an index that a LIST's selector can use."""


def finds_namespaces(minor: int, *, pods: bool) -> bool:
    """Return True if a LIST of one namespace looks only at that namespace's objects.

    Since 1.32 the cache is ordered by key. Before, it was a hash map that was copied whole and filtered by
    prefix; only pods had an index, since 1.30.
    """
    return minor >= 32 or (pods and minor >= 30)
