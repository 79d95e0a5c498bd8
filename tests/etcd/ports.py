"""Ports that no other process gets while a test needs them."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """Ports of 127.0.0.1, bound and not listened at: connections to them are refused.

    Linux gives them neither to a server that takes any port nor to an outgoing connection. A server
    that names one gets it, again and again, if it sets SO_REUSEADDR: etcd does, and so do these sockets.
    """
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            each.bind(("127.0.0.1", 0))
        yield [each.getsockname()[1] for each in sockets]
