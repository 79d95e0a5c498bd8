"""Document of `/ktui/v1/behaviour`: the Kubernetes version and gates whose rules the server follows."""

from __future__ import annotations

import msgspec


class Rules(msgspec.Struct, frozen=True):
    """`feature_gates` are those that differ from the defaults of `kube_version`."""

    kube_version: str
    feature_gates: dict[str, bool] = {}
