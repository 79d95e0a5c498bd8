"""The figures of a request's cost, each defined only here.

The server counts them in its meter, events carry them, and clients add them up. To add a figure:
define it here, count it where the work is done (`current_meter().NAME += …`), show it, and describe
it in docs/meter.md.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from ktui.contract.events.base import Count, Event, Milliseconds


class CostRatios:
    """Ratios of the figures."""

    __slots__ = ()

    etcd_bytes: int
    cached_bytes: int
    encoded_bytes: int

    @property
    def processed_bytes(self) -> int:
        """Bytes that the control plane processed: read from etcd, or tested in the cache."""
        return self.etcd_bytes + self.cached_bytes

    @property
    def amplification(self) -> float | None:
        """Bytes processed per byte returned (before gzip); None if nothing was returned."""
        return self.processed_bytes / self.encoded_bytes if self.encoded_bytes else None


class Cost(CostRatios, msgspec.Struct):
    """The cost of one request, or the sum of several."""

    fetched: Count = 0  # objects read from cache or etcd
    evaluated: Count = 0  # objects that the selectors were evaluated for
    matched: Count = 0  # objects that matched them
    returned: Count = 0  # objects sent
    etcd_gets: Count = 0  # reads of etcd as kube-apiserver counts them, whatever their number of RPCs
    etcd_lists: Count = 0
    etcd_rpcs: Count = 0
    etcd_keys: Count = 0
    etcd_bytes: Count = 0  # as received in etcd's responses
    cached_bytes: Count = 0  # stored size of the objects tested in a cache (beyond a page: of references)
    decoded: Count = 0  # objects that were parsed for the request
    decoded_bytes: Count = 0  # their stored bytes
    encoded_bytes: Count = 0  # the body before gzip
    sent_bytes: Count = 0  # the body after gzip
    imputed_bytes: Count = 0  # of cached_bytes: objects that an index of ktui's skipped, at their mean size
    cpu_ms: Milliseconds = 0.0  # of the request's steps on the event loop, and of gzip in its thread


FIGURES = Cost.__struct_fields__
COUNTS = tuple(field.name for field in msgspec.structs.fields(Cost) if field.type == Count)
"""The figures that are whole numbers: all except times."""

figures: Callable[[Cost], tuple[Any, ...]] = attrgetter(*FIGURES)
"""Returns all figures in order: the first positional arguments of any struct with a cost."""


if TYPE_CHECKING:
    # mypy takes Cost for a base that is not frozen, here and where CostEvent is the base.
    class CostEvent(Cost, Event, frozen=True):  # type: ignore[misc]
        """An event with a cost: its figures are fields of the event."""

else:
    # Two structs with fields cannot both be base classes: the figures are copied instead.
    CostEvent = msgspec.defstruct(
        "CostEvent",
        [(field.name, field.type, field.default) for field in msgspec.structs.fields(Cost)],
        bases=(CostRatios, Event),
        module=__name__,
        frozen=True,
        gc=False,
    )
