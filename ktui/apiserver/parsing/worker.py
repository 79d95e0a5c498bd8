"""The parser process: `python -m ktui.apiserver.parsing.worker`, frames on stdin and stdout.

A frame is a kind, a length and content. A request is one frame (`JSON` or `YAML`, the body). The answer is
`DUPLICATES` and one or more `PIECE`, or `INVALID` or `TOO_LARGE` with the error's text; `END` closes it.

Whatever a body does to a parser affects this process only: the kernel limits memory and CPU time, inside C
code as well.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ktui.documents.jsonreader import duplicate_fields, read_json
from ktui.documents.limits import DocumentError, TooLarge
from ktui.documents.tree_pieces import Piece, check_containers, pieces
from ktui.documents.yamlreader import read_yaml

HEADER = struct.Struct(">cI")

JSON, YAML = b"j", b"y"
DUPLICATES, PIECE, INVALID, TOO_LARGE, END = b"d", b"p", b"i", b"l", b"."


def frame(kind: bytes, content: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(content)) + content


MEMORY_BYTES = 768 << 20  # address space
RETIRE_BYTES = 100 << 20  # a process still larger than this after a response ends
CPU_SECONDS = 10.0  # for one body
# bytes of JSON, in which a character may take six times as many bytes as in the body
MOST_ANSWERED = 16 << 20


def main() -> None:
    _limit()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while header := source.read(HEADER.size):
        kind, size = HEADER.unpack(header)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # SIGPROF ends the process
        _answer(kind, source.read(size), sink)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sink.flush()
        if _resident() > RETIRE_BYTES:
            return


def _limit() -> None:
    os.nice(5)  # the server has priority
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    gc.disable()  # trees have no cycles


def _resident() -> int:
    """The bytes in memory; 0 if the system does not report them. (getrusage counts the parent process.)"""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _answer(kind: bytes, body: bytes, sink: BinaryIO) -> None:
    try:
        for answer in parsed(kind, body):
            sink.write(answer)
    except TooLarge as error:
        sink.write(frame(TOO_LARGE, str(error).encode()))
    except DocumentError as error:
        sink.write(frame(INVALID, str(error).encode("utf-8", "replace")))
    except MemoryError:
        sink.write(frame(TOO_LARGE, f"it takes more than {MEMORY_BYTES >> 20} MiB to read".encode()))
    sink.write(frame(END))


def parsed(kind: bytes, body: bytes) -> Iterator[bytes]:
    """Yield the frames of a document, without END; raise DocumentError or MemoryError."""
    if kind == YAML:
        duplicates: list[str] = []
        tree = read_yaml(body, duplicates=duplicates)
    else:
        tree, duplicates = read_json(body), duplicate_fields(body)
    check_containers(tree)
    yield frame(DUPLICATES, msgspec.json.encode(duplicates))
    size = 0
    for piece in pieces(tree):
        text = _json(piece)
        size += len(text)
        if size > MOST_ANSWERED:
            raise TooLarge(f"limit is {MOST_ANSWERED} as JSON")
        yield frame(PIECE, text)


def _json(piece: Piece) -> bytes:
    try:
        return msgspec.json.encode(piece)
    except OverflowError:  # an integer of more than 64 bits
        whole: list[Any] = [piece.path, piece.part]
        return json.dumps(whole).encode()


if __name__ == "__main__":
    main()
