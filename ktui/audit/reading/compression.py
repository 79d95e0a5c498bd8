"""Unpack gzip, zstd, bzip2 and xz in bounded memory; each is recognised by its first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from typing import TYPE_CHECKING, Any

from ktui.audit.reading.streams import CHUNK, ByteStream

if TYPE_CHECKING:
    import zstandard

_MOST_MEMORY = 1 << 28
_WINDOW = 1 << 27  # that of `zstd --long=27`, zstd's default limit
# Bytes read at a time: a compressed block of four bytes can be 128 KiB of text, so this is at most 32 MiB.
_ZSTD_STEP = 1 << 10
_ZSTD_FULL = 1 << 18

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}
# First bytes of files that cannot be read, with what to do instead.
_UNSUPPORTED = {
    b"\x04\x22\x4d\x18": "lz4-compressed: unpack it first (lz4 -d)",
    b"\xff\x06\x00\x00sNaPpY": "snappy-compressed: unpack it first",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    b"PAR1": "Parquet: its name must end in .parquet",
    b"ORC": "ORC: export it as JSON lines or Parquet first",
    b"Obj\x01": "Avro: export it as JSON lines first",
    b"\x7fELF": "a program, not a log",
    b"SQLite format 3": "an SQLite database, not a log",
    b"\x89PNG": "a picture, not a log",
    b"%PDF": "a PDF document, not a log",
}


def packing(head: bytes) -> str:
    """Return `gzip`, `zstd`, `bzip2`, `xz`, or "" for a stream that begins with these bytes."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


def unsupported(head: bytes) -> str:
    """Return why a file that begins with `head` cannot be read; "" if it may be a log."""
    if not any(byte < 9 or byte > 126 for byte in head[:64]):
        return ""  # text, whatever its first letters are
    return next((why for magic, why in _UNSUPPORTED.items() if head.startswith(magic)), "")


def unpacked(kind: str, stream: io.BufferedReader[Any]) -> ByteStream:
    """Return the unpacked content of a stream; `kind` is a result of `packing`."""
    if kind == "gzip":
        return gzip.GzipFile(fileobj=stream, mode="rb")
    if kind == "bzip2":
        return bz2.BZ2File(stream)
    return _Zstd(stream) if kind == "zstd" else _Xz(stream)


class _Zstd:
    """Unpacks consecutive zstd frames. A stream that ends inside a frame raises EOFError."""

    def __init__(self, stream: io.BufferedReader[Any]) -> None:
        import zstandard  # start-up time

        self._zstd = zstandard
        self._stream = stream
        self._frame = self._fresh()
        self._begun = False

    def _fresh(self) -> zstandard.ZstdDecompressionObj:
        return self._zstd.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()

    def read1(self, size: int = -1, /) -> bytes:
        try:
            return self._read()
        except self._zstd.ZstdError as error:
            raise OSError(str(error)) from None

    def _read(self) -> bytes:
        parts, total = [], 0
        while total < _ZSTD_FULL:
            packed = self._stream.read(_ZSTD_STEP)
            if not packed:
                if self._begun and not total:
                    raise EOFError
                break
            while packed:
                if self._frame.eof:
                    self._frame = self._fresh()
                parts.append(self._frame.decompress(packed))
                packed = self._frame.unused_data if self._frame.eof else b""
                total += len(parts[-1])
            self._begun = not self._frame.eof
        return b"".join(parts)


class _Xz:
    """Unpacks consecutive xz streams, each within a memory limit."""

    def __init__(self, stream: io.BufferedReader[Any]) -> None:
        self._stream = stream
        self._unpacker = self._fresh()
        self._begun = False

    @staticmethod
    def _fresh() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(memlimit=_MOST_MEMORY)

    def read1(self, size: int = -1, /) -> bytes:
        while True:
            packed = b""
            if self._unpacker.eof:
                packed = self._unpacker.unused_data.lstrip(b"\0") or self._stream.read1(1 << 16).lstrip(b"\0")
                if not packed:
                    return b""
                self._unpacker, self._begun = self._fresh(), True
            elif self._unpacker.needs_input:
                packed = self._stream.read1(1 << 16)
                if not packed:
                    if self._begun:
                        raise EOFError
                    return b""
                self._begun = True
            if text := self._unpacker.decompress(packed, size if size > 0 else CHUNK):
                return text
