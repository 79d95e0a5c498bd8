"""A tally as data: what one process or machine has counted, to be added to the counts of others.

The file of `ktui audit --partial` is a header line and a compressed MessagePack of a PartialTally.
"""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from typing import Annotated

import msgspec

from ktui.audit.formats.log_record import Skip, Skips
from ktui.audit.group import AuditGroup, SlowGroup
from ktui.audit.journal import Journal
from ktui.audit.log_reader import FileCount
from ktui.audit.observed import ROUTES, SOURCES
from ktui.audit.periods import LogPeriod
from ktui.audit.tally import BadLine, Tally
from ktui.core.ranking.shape import shape_of_uri

HEADER = b"ktui audit partial, version 6\n"
_LARGEST = 1 << 30
_LATEST = 1 << 57  # microseconds: the year 6536
_BUCKETS = 16 * 64
_FOLDED = ("list", "get", "watch")  # verbs of folded groups, which have the indexes -1, -2, -3
_SKIPPED = [skip.what for skip in vars(Skips).values() if isinstance(skip, Skip)]

_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 62))]


class PartialError(ValueError):
    """A file is not a partial of this version; the message says why."""


class PartialTally(msgspec.Struct):
    """Everything that a Tally has counted. `numbered` maps indexes of the journal to `groups`."""

    files: list[FileCount]
    formats: dict[str, _Count]
    carriers: dict[str, _Count]
    spans: dict[str, LogPeriod]
    bad_lines: list[BadLine]
    unrouted: int
    groups: list[AuditGroup]
    numbered: list[int]
    folded: dict[str, int]
    folded_keys: list[Annotated[int, msgspec.Meta(ge=0)]]
    groups_folded: _Count
    slow: list[SlowGroup]
    slow_folded: _Count
    journal: dict[str, bytes]
    lost: _Count
    stopped: bool


_decode = msgspec.msgpack.Decoder(PartialTally).decode


def packed(tally: Tally) -> bytes:
    """Return the tally as MessagePack, which takes a tenth of the time of pickle."""
    return msgspec.msgpack.encode(part_of(tally))


unpacked = _decode
"""Decodes what `packed` returned in another process of this program; does not check it as `read` does."""


def written(tally: Tally) -> bytes:
    return HEADER + zlib.compress(packed(tally), 1)


def read(data: bytes) -> PartialTally:
    """Parse and check the content of a partial file. Raises PartialError."""
    if not data.startswith(HEADER):
        raise PartialError("not a file of `ktui audit --partial` (of this version)")
    try:
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(data[len(HEADER) :], _LARGEST)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise PartialError("it is cut off, or too large")
        part = _decode(content)
    except PartialError:
        raise
    except (zlib.error, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise PartialError(f"it is damaged ({error})") from None
    _check(part)
    return part


def _check(part: PartialTally) -> None:
    """Check that lengths and indexes fit, so that `add` cannot fail. Raises PartialError."""
    try:
        columns = {name: array(code, part.journal[name]) for name, code in Journal.CODES.items()}
    except (KeyError, ValueError):
        raise PartialError("it is damaged (the columns of its journal)") from None
    rows = {len(columns[name]) for name in Journal.COLUMNS}
    if len(rows) > 1 or any(not -1 <= number < len(part.numbered) for number in columns["group"]):
        raise PartialError("it is damaged (the rows of its journal)")
    routes = columns["traced"][1 :: Journal.SIDES["traced"]]
    if any(len(columns[side]) % width for side, width in Journal.SIDES.items()) or any(
        not 0 <= route < len(ROUTES) for route in routes
    ):
        raise PartialError("it is damaged (the slow requests of its journal)")
    if any(not -len(_FOLDED) <= number < len(part.groups) for number in part.numbered):
        raise PartialError("it is damaged (its groups)")
    # The shape is that of the example, and slow and traced requests are complete.
    if not all(
        shape_of_uri(group.example) == group.key.shape
        and (group.slow is None or group.slow.sources.keys() == set(SOURCES))
        and (group.traced is None or group.traced.sound)
        for group in part.groups
    ):
        raise PartialError("it is damaged, or of another version of ktui (its groups)")
    days = [day for span in part.spans.values() for day in span.days.values()]
    moments = [moment for _, first, last in days for moment in (first, last)]
    timeless = any(not span.days for span in part.spans.values()) or any(count < 1 for count, _, _ in days)
    if timeless or any(not 0 <= moment < _LATEST for moment in moments):
        raise PartialError("it is damaged (its times)")
    histograms = [took for group in part.groups for took in (group.took, group.init)]
    for took in (*histograms, *(slow.took for slow in part.slow)):
        if any(not -1 <= bucket < _BUCKETS for bucket in took.buckets):
            raise PartialError("it is damaged (its latencies)")


_SAME = (
    "files", "formats", "carriers", "spans", "bad_lines", "unrouted", "slow_folded", "stopped",
)  # fmt: skip


def part_of(tally: Tally) -> PartialTally:
    """Return the tally as data; it can be fed further."""
    places = {group.index: place for place, group in enumerate(tally.groups)}
    return PartialTally(
        **{name: getattr(tally, name) for name in _SAME}, groups=list(tally.groups),
        numbered=[
            places[index] if isinstance(group, AuditGroup) else -1 - _FOLDED.index(group)
            for index, group in enumerate(tally.numbered)
        ],
        folded=dict(tally.folded.requests), folded_keys=tally.folded.groups.hashes,
        groups_folded=tally.groups.folded, slow=list(tally.slow),
        journal={name: getattr(tally.journal, name).tobytes() for name in Journal.CODES},
        lost=tally.journal.lost,
    )  # fmt: skip


def add(tally: Tally, part: PartialTally) -> None:
    """Add the counts of `part` to `tally`, as if `tally` had read those logs next."""
    _add_files(tally, part)
    tally.formats.update(part.formats)
    tally.carriers.update(part.carriers)
    tally.unrouted += part.unrouted
    for bad in part.bad_lines:
        tally.show_bad(bad)
    tally.folded.requests.update(part.folded)
    tally.folded.groups.merge(part.folded_keys)
    tally.groups.folded += part.groups_folded
    indexes = []  # the tally's, of each group of the part
    for group in part.groups:
        known = tally.groups.get(group.key) or tally.add_group(group.key, group.example)
        known.merge(group)
        indexes.append(known.index)
    _add_journal(tally, part, indexes)
    for slow in part.slow:
        mine = tally.slow.get(slow.key) or tally.slow.add(slow.key, SlowGroup(slow.key, slow.example))
        mine.merge(slow)
    tally.slow_folded += part.slow_folded
    tally.stopped = tally.stopped or part.stopped


def _add_files(tally: Tally, part: PartialTally) -> None:
    continued = bool(part.files and part.files[0].part and tally.files)
    before = tally.files[-1].lines if continued else 0
    if continued:
        name = part.files[0].name
        part.bad_lines = [
            BadLine(bad.file, bad.line + before * (bad.file == name), bad.why, bad.text)
            for bad in part.bad_lines
        ]
    for number, file in enumerate(part.files):
        file.skipped = Counter({name: file.skipped[name] for name in _SKIPPED if name in file.skipped})
        if continued and not number:
            tally.files[-1].extend(file)
        else:
            tally.add_file(file)
    for source, span in part.spans.items():
        if source in tally.spans:
            tally.spans[source].extend(span, same_file=continued)
        else:
            tally.spans[source] = span


def _add_journal(tally: Tally, part: PartialTally, indexes: list[int]) -> None:
    journal = Journal(max(1, len(part.journal["id"]) // 8))
    for name, code in Journal.CODES.items():
        setattr(journal, name, array(code, part.journal[name]))
    journal.lost = part.lost
    numbers = []
    for number in part.numbered:
        if number >= 0:
            numbers.append(indexes[number])
        else:
            numbers.append(len(tally.numbered))
            tally.numbered.append(_FOLDED[-1 - number])
    tally.journal.extend(journal, numbers)
