"""The logs in a file: itself, compressed content, or members of an archive; nested up to four times."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from typing import IO, Any, NamedTuple, cast

from ktui.audit.reading import compression
from ktui.audit.reading.streams import BrokenStream, BufferedStream, ByteStream, UnpackLimit

_DEEPEST = 4
_MEMBERS = 100_000
_SPOOLED = 1 << 30  # bytes of a zip that is not a file of its own
_HEAD = 512  # bytes of a tar header
_BEFORE = "what came before is counted"


class Leaf(NamedTuple):
    """One log in a file: its name, `FILE!MEMBER` in an archive, and its bytes."""

    name: str
    source: BufferedStream


def leaves(name: str, source: BufferedStream, limit: UnpackLimit, depth: int = 0) -> Iterator[Leaf]:
    """The logs in a stream. Raises BrokenStream for a damaged or foreign one."""
    head = source.head(_HEAD)
    if why := compression.foreign(head):
        raise BrokenStream(why)
    packing, archive = compression.packing(head), archive_kind(head)
    if not packing and not archive:
        yield Leaf(name, source)
        return
    if depth == _DEEPEST:
        raise BrokenStream(f"packed more than {_DEEPEST} times over: unpack it first")
    stream = io.BufferedReader(source, 1 << 16)
    if packing:
        unpacked = BufferedStream(compression.unpacked(packing, stream), limit)
        yield from leaves(name, unpacked, limit, depth + 1)
    else:
        members = _tar(stream) if archive == "tar" else _zip(stream)
        for member, content in members:
            inner = BufferedStream(content, limit)
            yield from leaves(f"{name}!{member}", inner, limit, depth + 1)


def archive_kind(head: bytes) -> str:
    """`tar`, `zip`, or "" for a stream that begins otherwise."""
    if head[257:262] == b"ustar":
        return "tar"
    return "zip" if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) else ""


def _tar(stream: io.BufferedReader[Any]) -> Iterator[tuple[str, ByteStream]]:
    try:
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for number, member in enumerate(tar):
                _bound(number)
                content = tar.extractfile(member) if member.isfile() else None
                if isinstance(content, tarfile.ExFileObject) and wanted(member.name):
                    yield member.name, content
    except tarfile.TarError as error:
        raise BrokenStream(f"the tar archive is damaged ({error}): {_BEFORE}") from None


def _zip(stream: io.BufferedReader[Any]) -> Iterator[tuple[str, ByteStream]]:
    """Its list of members stands at its end: it is copied to a temporary file first."""
    with tempfile.TemporaryFile() as file:
        _copy(stream, file)
        try:
            with zipfile.ZipFile(file) as archive:
                for number, member in enumerate(archive.infolist()):
                    _bound(number)
                    if member.is_dir() or not wanted(member.filename):
                        continue
                    with archive.open(member) as content:
                        yield member.filename, cast("ByteStream", content)  # typed without read1
        except (zipfile.BadZipFile, RuntimeError) as error:  # damaged; encrypted, or of an unknown method
            raise BrokenStream(f"the zip archive cannot be read ({error}): {_BEFORE}") from None


def _copy(stream: io.BufferedReader, file: IO[bytes]) -> None:
    size = 0
    while chunk := stream.read1(1 << 20):
        size += len(chunk)
        if size > _SPOOLED:
            raise BrokenStream("a zip archive of more than 1 GiB: unpack it first")
        file.write(chunk)


def _bound(number: int) -> None:
    if number >= _MEMBERS:
        raise BrokenStream(f"an archive of more than {_MEMBERS:,} files: {_BEFORE}")


_NO_LOG = (
    ".yaml", ".yml", ".md", ".html", ".css", ".js", ".png", ".svg", ".jpg", ".pem", ".crt", ".key", ".sh",
    ".toml", ".ini", ".db", ".snap", ".py", ".go", ".pdf", ".sum",
)  # fmt: skip


def wanted(name: str) -> bool:
    """Whether a file that was found in a folder or an archive, not named, may be a log."""
    base = name.rpartition("/")[2]
    return not base.startswith((".", "._")) and not base.lower().endswith(_NO_LOG)
