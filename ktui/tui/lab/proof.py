"""A cache compared with etcd at one resourceVersion, in words."""

from __future__ import annotations

from typing import Any

from ktui.core.format import integer, long_bytes, milliseconds


def proof_text(resource_id: str, answer: dict[str, Any]) -> str:
    """What `POST /ktui/v1/caches/…/check` found."""
    cache, etcd = answer["cache"], answer["etcd"]
    equal = answer["consistent"]
    sides = (("watch cache", cache, "from memory"), ("etcd", etcd, _read(etcd)))
    rows = [
        f"  {name:<12} {integer(side['objects']):>10}   {side['digest']}   {cost}"
        for name, side, cost in sides
    ]
    return "\n".join(
        [
            headline(resource_id, answer),
            "",
            f"  {'':<12} {'objects':>10}   {'digest':<16}",
            *rows,
            "",
            "The digest is FNV-1 (64 bit) over namespace/name/resourceVersion of every object in key",
            "order, as kube-apiserver's own consistency check makes it. etcd was read at exactly the",
            "resourceVersion that the cache had, in pages.",
            *(
                []
                if equal
                else ["", "The cache's snapshots were dropped: LISTs at an exact resourceVersion go to etcd."]
            ),
        ]
    )


def headline(resource_id: str, answer: dict[str, Any]) -> str:
    """`pods: cache = etcd at rv 48,102 (3,000 objects, 41 ms)`."""
    sign = "=" if answer["consistent"] else "≠"
    objects = integer(answer["etcd"]["objects"])
    return (
        f"{resource_id}: cache {sign} etcd at rv {integer(int(answer['rv']))} "
        f"({objects} objects, {milliseconds(answer['ms'])} ms)"
    )


def _read(etcd: dict[str, Any]) -> str:
    rpcs = etcd["rpcs"]
    return f"{integer(rpcs)} RPC{'' if rpcs == 1 else 's'}, {long_bytes(etcd['bytes'])}"
