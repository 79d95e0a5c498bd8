"""The tree of etcd's prefixes, with the branches that the user has opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ktui.contract.events import Prefix


class PrefixRow(Struct, frozen=True):
    """One line of the tree. `share`: its bytes divided by those of its largest sibling (0–1)."""

    prefix: str
    label: str
    depth: int
    count: int
    bytes: int
    exact: bool
    low: int
    high: int
    leased: bool
    resource: str
    open: bool
    leaf: bool
    share: float


class PrefixOutline(Struct):
    """The open branches and their children; the top level comes from telemetry."""

    root: str = "/registry/"
    opened: set[str] = set()
    children: dict[str, list[Prefix]] = {}
    leaves: set[str] = set()

    def rows(self, top: Mapping[str, Prefix]) -> list[PrefixRow]:
        """Return the lines to show; siblings are sorted by bytes, the largest first."""
        return list(self._level(list(top.values()), self.root, 0))

    def _level(self, nodes: Sequence[Prefix], above: str, depth: int) -> Iterator[PrefixRow]:
        greatest = max((node.bytes for node in nodes), default=0) or 1
        for node in sorted(nodes, key=lambda node: (-node.bytes, node.prefix)):
            is_open = node.prefix in self.opened
            yield PrefixRow(
                prefix=node.prefix,
                label=_label(node.prefix.removeprefix(above).rstrip("/")) or node.prefix,
                depth=depth,
                count=node.count,
                bytes=node.bytes,
                exact=node.exact,
                low=node.low,
                high=node.high,
                leased=node.leased,
                resource=node.resource,
                open=is_open,
                leaf=node.prefix in self.leaves,
                share=node.bytes / greatest,
            )
            if is_open:
                yield from self._level(self.children.get(node.prefix, []), node.prefix, depth + 1)


def _label(path: str) -> str:
    """Return the prefix without a custom resource's group: `cilium.io/ciliumnodes` → `ciliumnodes`."""
    group, _, rest = path.partition("/")
    return rest if rest and "." in group else path
