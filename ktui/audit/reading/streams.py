"""Byte streams, and the logs in a file: the file, its compressed content, or archive members, nested.

gzip, zstd, bzip2 and xz are unpacked in bounded memory; each is recognised by its first bytes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST = 1 << 20
"""Bytes of a record beyond which only its two ends are kept."""
TAIL = 1 << 14


@dataclass(frozen=True, slots=True)
class LongLine:
    """A record longer than LONGEST: its first and its last bytes."""

    head: bytes
    tail: bytes


ERRORS = (OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, ValueError)
"""The errors of reading a damaged file or stream, besides EOFError."""
CHUNK = 1 << 18  # fits into a processor's cache while its lines are read
_FREE = 1 << 26  # bytes that any file may unpack to
_MOST_TIMES = 1000  # beyond: logs shrink 10 to 100 times, a decompression bomb thousands of times


class BrokenStream(Exception):
    """The stream broke off; the message says how. What was read before is valid."""


class ByteStream(Protocol):
    """A stream of bytes. (`read` of a broken gzip stream would lose what is already unpacked.)"""

    def read1(self, size: int = -1, /) -> bytes: ...


class ChunkStream:
    """Chunks of bytes, none of them empty, as a stream; they may be longer than requested."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read1(self, size: int = -1, /) -> bytes:
        return next(self._chunks, b"")


class UnpackLimit:
    """Limits what one file unpacks to; `taken` returns the bytes read of the packed file."""

    def __init__(self, taken: Callable[[], int]) -> None:
        self._taken = taken
        self._unpacked = 0

    def count(self, size: int) -> None:
        """Count unpacked bytes, of all levels of packing. Raises BrokenStream for a bomb."""
        self._unpacked += size
        if self._unpacked > _FREE and self._unpacked > _MOST_TIMES * max(1, self._taken()):
            raise BrokenStream(
                f"unpacks to more than {_MOST_TIMES:,} times its size: not read further, for it would fill "
                "memory or disk (a decompression bomb); what came before is counted"
            )


class BufferedStream(io.RawIOBase):
    """Buffers the first bytes of another stream, and counts what is read against `limit`.

    Reading raises BrokenStream where the other stream cannot be read or unpacked further.
    """

    def __init__(self, stream: ByteStream, limit: UnpackLimit | None = None) -> None:
        self._stream, self._limit = stream, limit
        self._head = b""
        self._more = memoryview(b"")  # rest of a chunk that did not fit into the buffer of `readinto`
        self._ended = False

    def head(self, size: int) -> bytes:
        """Return the next `size` bytes (fewer at the end) without reading them."""
        while len(self._head) < size and (chunk := self._next(CHUNK)):
            self._head += chunk
        return self._head[:size]

    def read1(self, size: int = CHUNK, /) -> bytes:
        size = size if size > 0 else CHUNK
        if self._head:
            chunk, self._head = self._head[:size], self._head[size:]
            return chunk
        return self._next(size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer)
        chunk = self._more or memoryview(self.read1(len(target)))
        size = min(len(target), len(chunk))  # decompressors may return more than requested
        target[:size], self._more = chunk[:size], chunk[size:]
        return size

    def _next(self, size: int) -> bytes:
        if self._ended:
            return b""
        try:
            chunk = self._stream.read1(size)
        except EOFError:
            raise BrokenStream("the compressed stream breaks off: what came before is counted") from None
        except ERRORS as error:
            raise BrokenStream(f"cannot be read further ({error}): what came before is counted") from None
        self._ended = not chunk
        if self._limit is not None:
            self._limit.count(len(chunk))
        return chunk


_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
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
    return ChunkStream(_unzstd(stream) if kind == "zstd" else _unxz(stream))


_WINDOW = 1 << 27  # that of `zstd --long=27`, zstd's default limit
# Bytes read at a time: a compressed block of four bytes can be 128 KiB of text, so this is at most 32 MiB.
_ZSTD_STEP = 1 << 10
_ZSTD_FULL = 1 << 18


def _unzstd(stream: io.BufferedReader[Any]) -> Iterator[bytes]:
    """Unpack consecutive zstd frames. Raises EOFError where the stream ends inside a frame."""
    import zstandard  # start-up time

    def fresh() -> zstandard.ZstdDecompressionObj:
        return zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()

    frame, begun = fresh(), False
    try:
        while True:
            parts, total = [], 0
            while total < _ZSTD_FULL and (packed := stream.read(_ZSTD_STEP)):
                while packed:
                    frame = fresh() if frame.eof else frame
                    parts.append(frame.decompress(packed))
                    packed = frame.unused_data if frame.eof else b""
                    total += len(parts[-1])
                begun = not frame.eof
            if not total:
                break
            yield b"".join(parts)
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None
    if begun:
        raise EOFError


_MOST_MEMORY = 1 << 28


def _unxz(stream: io.BufferedReader[Any]) -> Iterator[bytes]:
    """Unpack consecutive xz streams, each within a memory limit. Raises EOFError as `_unzstd` does."""
    unpacker, begun = lzma.LZMADecompressor(memlimit=_MOST_MEMORY), False
    while True:
        packed = b""
        if unpacker.eof:
            packed = unpacker.unused_data.lstrip(b"\0") or stream.read1(1 << 16).lstrip(b"\0")
            if not packed:
                return
            unpacker, begun = lzma.LZMADecompressor(memlimit=_MOST_MEMORY), True
        elif unpacker.needs_input:
            packed = stream.read1(1 << 16)
            if not packed:
                if begun:
                    raise EOFError
                return
            begun = True
        if text := unpacker.decompress(packed, CHUNK):
            yield text


_DEEPEST = 4
_MEMBERS = 100_000
_SPOOLED = 1 << 30  # most bytes of a zip archive that is copied to a temporary file
_HEAD = 512  # bytes of a tar header
_BEFORE = "what came before is counted"


class Leaf(NamedTuple):
    """One log in a file: its name, `FILE!MEMBER` in an archive, and its bytes."""

    name: str
    source: BufferedStream


def leaves(name: str, source: BufferedStream, limit: UnpackLimit, depth: int = 0) -> Iterator[Leaf]:
    """Yield the logs in a stream. Raises BrokenStream if it is damaged or unsupported."""
    head = source.head(_HEAD)
    if why := unsupported(head):
        raise BrokenStream(why)
    kind, archive = packing(head), archive_kind(head)
    if not kind and not archive:
        yield Leaf(name, source)
        return
    if depth == _DEEPEST:
        raise BrokenStream(f"packed more than {_DEEPEST} times over: unpack it first")
    stream = io.BufferedReader(source, 1 << 16)
    if kind:
        whole = BufferedStream(unpacked(kind, stream), limit)
        yield from leaves(name, whole, limit, depth + 1)
    else:
        members = _tar(stream) if archive == "tar" else _zip(stream)
        for member, content in members:
            inner = BufferedStream(content, limit)
            yield from leaves(f"{name}!{member}", inner, limit, depth + 1)


def archive_kind(head: bytes) -> str:
    """Return `tar`, `zip`, or "" for a stream that begins with `head`."""
    if head[257:262] == b"ustar":
        return "tar"
    return "zip" if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) else ""


def _tar(stream: io.BufferedReader[Any]) -> Iterator[tuple[str, ByteStream]]:
    try:
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for number, member in enumerate(tar):
                _bound(number)
                content = tar.extractfile(member) if member.isfile() else None
                if isinstance(content, tarfile.ExFileObject) and may_be_log(member.name):
                    yield member.name, content
    except tarfile.TarError as error:
        raise BrokenStream(f"the tar archive is damaged ({error}): {_BEFORE}") from None


def _zip(stream: io.BufferedReader[Any]) -> Iterator[tuple[str, ByteStream]]:
    """Yield the members. The directory is at the end, so the archive is first copied to a temporary file."""
    with tempfile.TemporaryFile() as file:
        while chunk := stream.read1(1 << 20):
            if file.tell() + len(chunk) > _SPOOLED:
                raise BrokenStream("a zip archive of more than 1 GiB: unpack it first")
            file.write(chunk)
        try:
            with zipfile.ZipFile(file) as archive:
                for number, member in enumerate(archive.infolist()):
                    _bound(number)
                    if member.is_dir() or not may_be_log(member.filename):
                        continue
                    with archive.open(member) as content:
                        yield member.filename, cast("ByteStream", content)  # typed without read1
        except (zipfile.BadZipFile, RuntimeError) as error:  # damaged, encrypted, or an unknown method
            raise BrokenStream(f"the zip archive cannot be read ({error}): {_BEFORE}") from None


def _bound(number: int) -> None:
    if number >= _MEMBERS:
        raise BrokenStream(f"an archive of more than {_MEMBERS:,} files: {_BEFORE}")


_NO_LOG = (
    ".yaml", ".yml", ".md", ".html", ".css", ".js", ".png", ".svg", ".jpg", ".pem", ".crt", ".key", ".sh",
    ".toml", ".ini", ".db", ".snap", ".py", ".go", ".pdf", ".sum",
)  # fmt: skip


def may_be_log(name: str) -> bool:
    """True if a file found in a folder or an archive may be a log, judged by its name."""
    base = name.rpartition("/")[2]
    return not base.startswith((".", "._")) and not base.lower().endswith(_NO_LOG)
