"""The directory of `ktui record`: a recording in segments, each of which is a recording of its own.

Their names begin with a sequence number, so that a clock that is set back does not change their order.
Plain files and gzip of one or more members are unpacked in bounded pieces.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ktui.contract.events import AnyEvent, Marker
from ktui.contract.recording import GZIP, LONGEST, RecordingError, decode_first_line, decode_line
from ktui.core.format import integer

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 14  # bytes read at a time: also the most that is lost at a damaged byte
_PIECE = 8 << 20  # bytes unpacked at a time, however high the compression ratio
# A recording compresses 10 to 30 times. A file with a much higher ratio is refused: it could fill the disk.
MOST_RATIO = 200
MOST_UNPACKED = 64 << 20  # bytes that are allowed whatever the ratio
ReportShare = Callable[[float], None]  # takes the share (0 to 1) that is done
Warn = Callable[[str], None]  # takes what is wrong with the end of the data


def unpacked(
    path: Path, warn: Warn = lambda text: None, report: ReportShare = lambda share: None
) -> Iterator[bytes]:
    """Yield the content of a recording, gzip or not; `warn` gets what is wrong with the end of gzip data.

    Raises OSError, RecordingError.
    """
    with path.open("rb") as file:
        packed = file.read(2) == GZIP_MAGIC
        total = file.seek(0, 2) or 1
        most = max(MOST_UNPACKED, MOST_RATIO * total)
        file.seek(0)
        size = 0
        for piece in _inflated(file, warn) if packed else iter(lambda: file.read(_CHUNK), b""):
            size += len(piece)
            if packed and size > most:
                reason = f"unpacked it has more than {MOST_RATIO} times its size"
                raise RecordingError(f"{path} is not a recording: {reason}")
            yield piece
            report(file.tell() / total)


def _inflated(file: IO[bytes], warn: Warn) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)
    rest = b""
    while rest or (rest := file.read(_CHUNK)):
        if inflate.eof:  # another gzip member follows
            inflate = zlib.decompressobj(wbits=31)
        try:
            yield inflate.decompress(rest, _PIECE)
        except zlib.error:
            warn("its gzip data is damaged")
            return
        rest = inflate.unconsumed_tail or inflate.unused_data
    if not inflate.eof:
        warn("its gzip data is incomplete")


MOST_JOINED = 512 << 20  # bytes of segments that are replayed as one recording: read in about 15 s
_NAME = re.compile(r"segment-([0-9]{6,9})-[0-9]{8}T[0-9]{6}Z\.ndjson\.gz", re.ASCII)
_MARKER = b'\n{"type":"marker"'


def segment_name(number: int, at: float) -> str:
    """Return the file name of segment `number`, which begins at `at` (Unix seconds)."""
    return f"segment-{number:06}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(at))}.ndjson{GZIP}"


def number_of(path: Path) -> int:
    """Return a segment's number; 0 for another file."""
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else 0


def segments_of(directory: Path) -> list[Path]:
    """Return the segments in `directory`, oldest first; other files are left out. Raises RecordingError."""
    try:
        found = [path for path in directory.iterdir() if number_of(path)]
    except OSError as error:
        raise RecordingError(f"cannot read {directory}: {error.strerror}") from error
    return sorted(found, key=number_of)


def first_segment(directory: Path) -> Path:
    """Return the oldest segment. Raises RecordingError if there is none."""
    found = segments_of(directory)
    if not found:
        raise RecordingError(f"{directory} is a directory without segments of `ktui record`")
    return found[0]


def check_beginning(path: Path) -> AnyEvent | None:
    """Return the first event of a recording, None for a newer ktui's type. Raises RecordingError."""
    if path.is_dir():
        path = first_segment(path)
    held, wrong = b"", list[str]()
    try:
        for piece in unpacked(path, wrong.append):
            held += piece
            if b"\n" in piece or len(held) > LONGEST:
                break
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error}") from error
    first = held[: held.find(b"\n") + 1] or held
    if not first:
        nothing, lost = "is empty: nothing was recorded", "is damaged: none of it can be unpacked"
        raise RecordingError(f"{path} {lost if wrong else nothing}")
    try:
        return decode_first_line(first)
    except RecordingError as error:
        raise RecordingError(f"{path} is not a recording: line 1: {error}") from error


class JoinedSegments(NamedTuple):
    """The segments to replay as one recording, in order, and how many of the directory are left out."""

    paths: Sequence[Path]
    left_out: int

    @property
    def warning(self) -> str:
        if not self.left_out:
            return ""
        shown = f"{integer(len(self.paths))} of {integer(len(self.paths) + self.left_out)} segments"
        return f"{shown}, those around the worst finding; each of the others is a recording of its own"


def choose_segments(
    directory: Path, report: ReportShare = lambda share: None, most: int = MOST_JOINED
) -> JoinedSegments:
    """Return all segments, or those of at most `most` bytes around the worst finding, without one the newest.

    Raises RecordingError.
    """
    first_segment(directory)
    paths = segments_of(directory)
    sizes, findings = list[int](), list[tuple[int, float]]()
    for done, path in enumerate(paths):
        size, finding = _scan(path)
        sizes.append(size)
        findings.append(finding)
        report(done / len(paths))
    worst = max(range(len(paths)), key=lambda at: (findings[at], at if findings[at] == (0, 0.0) else -at))
    first = last = worst
    size = sizes[worst]
    while True:  # the neighbour before, then the one after, as long as they fit
        before = first > 0 and size + sizes[first - 1] <= most
        if before:
            first -= 1
            size += sizes[first]
        after = last + 1 < len(paths) and size + sizes[last + 1] <= most
        if after:
            last += 1
            size += sizes[last]
        if not before and not after:
            return JoinedSegments(paths[first : last + 1], len(paths) - (last - first + 1))


def _scan(path: Path) -> tuple[int, tuple[int, float]]:
    """Return the bytes of a segment, unpacked, and severity and cost of its worst finding."""
    size, worst, rest = 0, (0, 0.0), b"\n"
    try:
        for piece in unpacked(path):
            size += len(piece)
            held = rest + piece
            worst = max(worst, _worst_in(held))
            rest = held[max(0, held.rfind(b"\n")) :][-LONGEST:]
    except (OSError, RecordingError):  # rotated meanwhile, or damaged: reading it reports that
        pass
    return size, worst


def _worst_in(held: bytes) -> tuple[int, float]:
    worst, at = (0, 0.0), 0
    while (at := held.find(_MARKER, at)) >= 0:
        end = held.find(b"\n", at + 1)
        if end < 0:
            break
        event = decode_line(held[at + 1 : end])
        if isinstance(event, Marker):
            worst = max(worst, (event.severity, event.cost))
        at = end
    return worst
