"""Clients that list all pods: some repeatedly, some that stop reading in the middle of an answer.

usage: python -m benchmarks.listers PORT

Ends with its standard input, and prints how many answers it read.
"""

from __future__ import annotations

import select
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException

from benchmarks.http import Client, unverified
from benchmarks.reads import ALL
from benchmarks.server import TOKEN

_READ_BEFORE_STALL = 1 << 20


@contextmanager
def full_lists_by(port: int, clients: int) -> Iterator[list[int]]:
    """Let `clients` processes list everything during the block; the yielded list then has their counts."""
    words = [sys.executable, "-m", "benchmarks.listers", str(port)]
    processes = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(clients)
    ]
    counts: list[int] = []
    try:
        yield counts
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in processes:
            assert process.stdout is not None
            counts.append(int(process.stdout.read() or 0))
            process.wait()


@contextmanager
def stalled_lists(port: int, clients: int) -> Iterator[None]:
    """Keep `clients` connections open during the block, each in the middle of an answer that is not read."""
    with ExitStack() as connections:
        for _ in range(clients):
            connections.enter_context(_stalled(port))
        yield


def _stalled(port: int) -> ssl.SSLSocket:
    connection = unverified().wrap_socket(socket.create_connection(("127.0.0.1", port)))
    head = f"GET {ALL} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    connection.sendall(head.encode())
    read = 0
    while read < _READ_BEFORE_STALL and (piece := connection.recv(1 << 16)):
        read += len(piece)
    return connection


def _main(port: int) -> None:
    lists = 0
    client = Client(port, TOKEN)
    while not select.select([sys.stdin], [], [], 0)[0]:
        try:
            client.get(ALL)
            lists += 1
        except (OSError, HTTPException, RuntimeError) as error:  # the server closed the connection: reconnect
            print(f"… a client that lists everything: {error!r}", file=sys.stderr)
            with suppress(OSError):
                client.close()
            client = Client(port, TOKEN)
    print(lists)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
