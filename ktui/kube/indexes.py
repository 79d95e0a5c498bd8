"""What kube-apiserver's watch cache finds without looking at every object of a resource."""

from __future__ import annotations

NODE_NAME = "spec.nodeName"
"""The field by which pods are indexed; no other resource has an index for LISTs that a selector can use."""


def finds_namespaces(minor: int, *, pods: bool) -> bool:
    """Whether a LIST of one namespace looks at that one's objects only.

    Since 1.32 the cache is ordered by key. Before, it was a hash map, of which everything is
    taken and filtered by prefix; only pods were found by an index, since 1.30.
    """
    return minor >= 32 or (pods and minor >= 30)
