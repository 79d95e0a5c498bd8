"""Break off a connection whose response cannot be completed.

ASGI has no message for it, and granian ends the body of an unfinished response
as if it were complete. So the socket, which belongs to this process, is shut down. Other requests of the
same HTTP/2 connection end with it, and their clients retry them.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

DESCRIPTORS = Path("/dev/fd")


def break_off(client: Sequence[object] | None, server: Sequence[object] | None) -> None:
    """Shut down the connection between the two addresses (host, port, …) of an ASGI scope."""
    if not client or not server:
        return
    for entry in DESCRIPTORS.iterdir():
        with suppress(OSError, ValueError):  # of another kind, already closed, or not connected
            descriptor = int(entry.name)
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                continue
            with socket.socket(fileno=os.dup(descriptor)) as found:
                if _same(found.getpeername(), client) and _same(found.getsockname(), server):
                    found.shutdown(socket.SHUT_RDWR)
                    return


def _same(address: object, wanted: Sequence[object]) -> bool:
    return isinstance(address, tuple) and address[:2] == tuple(wanted[:2])
