"""The document of `/ktui/v1/behaviour`: the Kubernetes version and feature gates that the server follows."""

from __future__ import annotations

import msgspec


class Rules(msgspec.Struct, frozen=True):
    """The server's rules; `feature_gates` are those that override the defaults of `kube_version`."""

    kube_version: str
    feature_gates: dict[str, bool] = {}
