"""Read a page of /metrics, Prometheus' text format, as a stream, and keep only the wanted samples.

A page has more than ten thousand lines, of which a tenth is wanted. The lines of a family follow its
`# TYPE` line, so whole families are skipped without reading their lines.

The server is not trusted: lines and samples are bounded, and invalid lines are counted. Only a page
without any metric is an error.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

LONGEST_LINE = 64 * 1024
MOST_SAMPLES = 300_000  # kept of a page: 60 families of 5,000 resources
_TYPE = b"\n# TYPE "
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n"}
_SUFFIX = re.compile("_(?:sum|count|bucket)$")  # of the samples of a histogram's family
_START = re.compile(rb"\s*(?:[#a-zA-Z_:]|$)")


class ExpositionError(Exception):
    """The page cannot be used; the message is one sentence."""


class Sample(NamedTuple):
    """One value of one series."""

    name: str
    labels: dict[str, str]
    value: float


class Wanted(NamedTuple):
    """The samples of a family to keep: of `names`, in lines with `text`, or with a name's own of `texts`."""

    names: Sequence[bytes]
    text: bytes = b""
    texts: Mapping[bytes, bytes] = {}


class Exposition:
    """Collects samples: `feed` it the body in chunks, then call `finish`. `wanted` is by family name."""

    def __init__(self, wanted: Mapping[bytes, Wanted]) -> None:
        self.samples: list[Sample] = []
        self.families: set[str] = set()  # wanted families that the page has
        self.lines = 0
        self.bytes = 0
        self.skipped = 0  # lines that are too long, or whose value is not a number
        self.last_family = b""  # name of the last family: pages are sorted by name
        self._wanted = wanted
        self._all = Wanted([name for spec in wanted.values() for name in spec.names])
        self._family: Wanted | None = self._all  # a page without any `# TYPE` is searched for all names
        self._rest = b"\n"
        self._skipping = False  # inside a line that is too long

    def feed(self, chunk: bytes) -> None:
        """Read the next piece of the body. Raises ExpositionError."""
        if not self.lines and self._rest == b"\n" and chunk and _START.match(chunk) is None:
            start = chunk[:40].decode("utf-8", "replace")
            raise ExpositionError(f"the answer is not Prometheus metrics: it begins with {start!r}")
        self.bytes += len(chunk)
        if self._skipping:
            _, found, chunk = chunk.partition(b"\n")
            if not found:
                return
            self._skipping, self._rest = False, b"\n"
        end = chunk.rfind(b"\n")
        if end < 0:
            self._rest += chunk
        else:
            text, self._rest = self._rest + chunk[:end], chunk[end:]
            self._read_lines(text)
        if len(self._rest) > LONGEST_LINE:
            self.skipped += 1
            self._rest, self._skipping = b"\n", True

    def finish(self) -> None:
        """Check that the page is complete. Raises ExpositionError."""
        if not self.bytes:
            raise ExpositionError("the answer is empty")
        if len(self._rest) > 1 or self._skipping:
            raise ExpositionError(f"the page is cut off after {self.bytes:,} bytes")
        if not (self.samples or self.skipped or self.last_family):
            raise ExpositionError("the answer has no metrics in it")

    def _read_lines(self, text: bytes) -> None:
        """Read complete lines, each with its newline before it."""
        self.lines += text.count(b"\n")
        start = 0
        while True:
            end = text.find(_TYPE, start)
            if self._family is not None:
                self._search(text[start : end if end >= 0 else None], self._family)
            if end < 0:
                return
            name = text[end + len(_TYPE) : end + len(_TYPE) + 200].partition(b" ")[0]
            self.last_family = name
            self._family = self._wanted.get(name)
            if self._family is not None:
                self.families.add(name.decode())
            start = end + len(_TYPE)

    def _search(self, block: bytes, wanted: Wanted) -> None:
        for name in wanted.names:
            text = wanted.texts.get(name, wanted.text)
            for line in _lines(block, name):
                if text in line:
                    self._keep(line, name)

    def _keep(self, line: bytes, name: bytes) -> None:
        value, labels = None, {}
        if len(line) <= LONGEST_LINE and len(self.samples) < MOST_SAMPLES:
            head, brace, tail = line.rpartition(b"}")
            value = _number(tail if brace else line[len(name) :])
            labels = _labels(head[len(name) + 1 :].decode("utf-8", "replace"))
        if value is None:
            self.skipped += 1
        else:
            self.samples.append(Sample(name.decode(), labels, value))


def samples_of(page: bytes, *names: str) -> list[Sample]:
    """Return the samples with these names of a page that has arrived; none of an answer that is no page."""
    by_family: dict[bytes, list[bytes]] = {}
    for name in names:
        by_family.setdefault(_SUFFIX.sub("", name).encode(), []).append(name.encode())
    found = Exposition({family: Wanted(wanted) for family, wanted in by_family.items()})
    with contextlib.suppress(ExpositionError):
        found.feed(page)
        found.feed(b"\n")  # of the last line, if it has none
    return found.samples


def _lines(block: bytes, name: bytes) -> Iterator[bytes]:
    """Yield the lines of a metric, without newlines."""
    sought = b"\n" + name
    at = block.find(sought)
    while at >= 0:
        after = at + len(sought)
        end = block.find(b"\n", after)
        if block[after : after + 1] in (b"{", b" "):
            yield block[at + 1 : end if end >= 0 else None]
        at = block.find(sought, after)


def _labels(text: str) -> dict[str, str]:
    labels = dict(_LABEL.findall(text))
    if "\\" in text:
        return {
            name: _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), value)
            for name, value in labels.items()
        }
    return labels


def _number(text: bytes) -> float | None:
    """Return a sample's value, ignoring its timestamp; None if it is NaN, infinite or invalid."""
    parts = text.split(None, 1)
    try:
        value = float(parts[0]) if parts else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
