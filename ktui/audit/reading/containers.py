"""Find the logs in a file: the file, its compressed content, or archive members, nested up to four times."""

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
    if why := compression.unsupported(head):
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
        _copy(stream, file)
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


def may_be_log(name: str) -> bool:
    """True if a file found in a folder or an archive may be a log, judged by its name."""
    base = name.rpartition("/")[2]
    return not base.startswith((".", "._")) and not base.lower().endswith(_NO_LOG)
