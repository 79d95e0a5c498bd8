"""Unpack recordings: plain files and gzip of one or more members, in bounded pieces."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ktui.contract.recording import RecordingError

GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 14  # bytes read at a time: also the most that is lost at a damaged byte
_PIECE = 8 << 20  # bytes unpacked at a time, however high the compression ratio
# A recording compresses 10 to 30 times. A file with a much higher ratio is refused: it could fill the disk.
MOST_RATIO = 200
MOST_UNPACKED = 64 << 20  # bytes that are allowed whatever the ratio
Warn = Callable[[str], None]  # takes what is wrong with the end of the data
ReportShare = Callable[[float], None]  # takes the share (0 to 1) that has been read


def unpacked(
    path: Path, warn: Warn = lambda text: None, report: ReportShare = lambda share: None
) -> Iterator[bytes]:
    """Yield the content of a recording, gzip or not. Raises OSError, RecordingError.

    A truncated or damaged end of gzip data is passed to `warn`, in a few words.
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
