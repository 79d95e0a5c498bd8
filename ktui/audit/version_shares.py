"""How LISTs move between etcd and the cache from version to version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ktui.audit.group import AuditGroup
from ktui.audit.predictions import EITHER, VersionPredictions
from ktui.core.format import percent


@dataclass(frozen=True, slots=True)
class VersionShare:
    """LISTs by route under one version; `refused` fail. Moves are relative to the selected version.

    `unknown`: LISTs whose route depends on a query string that was not logged; they are in no share.
    `etcd_bytes` is the estimated number of bytes that LISTs read from etcd, `cache_bytes` of objects that
    they test in the cache; None without sizes.
    """

    version: str
    cache: int
    etcd: int
    refused: int
    moved_to_cache: int
    moved_to_etcd: int
    etcd_bytes: float | None
    cache_bytes: float | None
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """The later version that moves most LISTs off etcd, the earliest if several do. Shares are 0 to 1.

    `bytes_share` is of the estimated bytes of all LISTs of known size, None without sizes.
    """

    from_version: str
    to_version: str
    requests_share: float
    bytes_share: float | None

    def sentence(self) -> str:
        """The move as a sentence: `1.30 → 1.34 moves 81% of your LIST requests from etcd to the cache`."""
        of_bytes = ""
        if self.bytes_share is not None:
            of_bytes = f" ({percent(self.bytes_share)} of their bytes, estimated)"
        return (
            f"{self.from_version} → {self.to_version} moves {percent(self.requests_share)} of your "
            f"LIST requests{of_bytes} from etcd to the cache"
        )


def shares(groups: Iterable[AuditGroup], predictions: VersionPredictions) -> list[VersionShare]:
    """Return one row per version, in the order of `predictions.every`."""
    lists = [
        (group.count, predicted)
        for group in groups
        if group.key.shape.verb == "list" and not (predicted := predictions.of(group)).elsewhere
    ]
    rows = []
    for i, behaviour in enumerate(predictions.every):
        counts = {"cache": 0, "etcd": 0, "none": 0, EITHER: 0}
        to_cache = to_etcd = 0
        known = [
            (count * cost.etcd, count * cost.cached)
            for count, predicted in lists
            if (cost := predicted.costs[i]) is not None
        ]
        for count, predicted in lists:
            before, after = predicted.route(), predicted.route(i)
            counts[after] += count
            to_cache += count * (before == "etcd" and after == "cache")
            to_etcd += count * (before == "cache" and after == "etcd")
        rows.append(
            VersionShare(
                version=behaviour.version,
                cache=counts["cache"],
                etcd=counts["etcd"],
                refused=counts["none"],
                moved_to_cache=to_cache,
                moved_to_etcd=to_etcd,
                etcd_bytes=sum(etcd for etcd, _ in known) if known else None,
                cache_bytes=sum(cache for _, cache in known) if known else None,
                unknown=counts[EITHER],
            )
        )
    return rows


def best_move(
    groups: Sequence[AuditGroup], predictions: VersionPredictions, rows: Sequence[VersionShare]
) -> Move | None:
    """Return the move to mention; None if no later version moves any LIST off etcd."""
    total = rows[0].cache + rows[0].etcd + rows[0].refused
    if not total:
        return None
    best = max(range(len(rows)), key=lambda i: (rows[i].moved_to_cache, -i))
    if not rows[best].moved_to_cache:
        return None
    return Move(
        rows[0].version,
        rows[best].version,
        rows[best].moved_to_cache / total,
        _bytes_share(groups, predictions, best),
    )


def _bytes_share(groups: Sequence[AuditGroup], predictions: VersionPredictions, to: int) -> float | None:
    moved = total = 0.0
    for group in groups:
        predicted = predictions.of(group)
        if group.key.shape.verb != "list" or (cost := predicted.costs[0]) is None:
            continue
        read = group.count * cost.processed
        total += read
        if predicted.route() == "etcd" and predicted.route(to) == "cache":
            moved += read
    return moved / total if total else None
