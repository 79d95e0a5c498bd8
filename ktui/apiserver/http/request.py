"""One HTTP request for handlers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

from ktui.apiserver.http import Message, Receive, Scope
from ktui.kube.requestinfo import pairs
from ktui.kube.users import Requester

# kube-apiserver: MaxRequestBodyBytes.
MAX_BODY_BYTES = 3 * 1024 * 1024
# Of a body that is read while its request waits: many may wait.
MOST_READ_AHEAD = 16 * 1024
NO_PARAMETERS: Mapping[str, list[str]] = {}
# strconv.ParseBool
TRUE = ("1", "t", "T", "TRUE", "true", "True")


# Go's server rejects such a target itself, before kube-apiserver sees it.
# golang.org/x/net/http/httpguts: ValidHostHeader.
_HOST_BYTES = re.compile(r"[!$%&'()*+,\-.0-9:;=A-Z\[\]_a-z~]*")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class BodyTooLarge(Exception):
    """The body exceeds MAX_BODY_BYTES."""


class BodyIncomplete(Exception):
    """The body ended early: bad chunking, fewer bytes than Content-Length, or a closed connection."""


class Request:
    """Method, decoded path, raw query, headers with lower-case names, and the body on demand."""

    __slots__ = (
        "_ahead", "_client", "_complete", "_receive", "_receiving", "_sent", "badly_escaped", "certified",
        "headers", "method", "parameters", "path", "query", "raw_path",
    )  # fmt: skip

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.raw_path: bytes = scope.get("raw_path") or b""
        self.badly_escaped = b"%" in self.raw_path and bool(_BAD_ESCAPE.search(self.raw_path))
        self.query: str = scope.get("query_string", b"").decode("latin-1")
        self._sent = scope["headers"]
        # From the last to the first, which counts if a header is sent twice, as for Go's Header.Get.
        self.headers: dict[str, str] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(self._sent)
        }
        self.certified: Requester | None = scope.get("user")  # the user of the client's certificate
        self._client: Sequence[object] | None = scope.get("client")
        self._receive = receive
        self._ahead: list[Message] = []
        self._complete = False  # no more of the body will be received
        self._receiving: asyncio.Task[Message] | None = None
        self.parameters: Mapping[str, list[str]] = _values_of(self.query) if self.query else NO_PARAMETERS

    def all_values(self, name: str) -> list[str]:
        """The values of a header that is sent several times, `name` in lower case."""
        wanted = name.encode("latin-1")
        return [value.decode("latin-1") for key, value in self._sent if key == wanted]

    @property
    def peer(self) -> str:
        """`10.0.0.7:53412`, "" if the server does not know the address."""
        return f"{self._client[0]}:{self._client[1]}" if self._client else ""

    @property
    def uri(self) -> str:
        """Path and query as the client sent them."""
        path = self.raw_path.decode("latin-1") or self.path
        return f"{path}?{self.query}" if self.query else path

    def head_fault(self) -> str:
        """Return why the header fields cannot be believed, in the words of Go's server; "" if they can.

        Which of two a proxy in front of the server has read cannot be known. (Go allows two of
        Authorization, and reads the first.)
        """
        if len(self.headers) < len(self._sent):
            for name in ("Host", "Authorization"):
                if len(self.all_values(name.lower())) > 1:
                    return f"too many {name} headers"
        return "" if _HOST_BYTES.fullmatch(self.headers.get("host", "")) else "malformed Host header"

    @property
    def user_agent(self) -> str:
        sent = self.headers.get("user-agent", "")
        return sent if sent.isascii() else sent.encode("latin-1").decode("utf-8", "replace")

    @property
    def accept(self) -> str:
        return self.headers.get("accept", "")

    @property
    def accept_encoding(self) -> str:
        return self.headers.get("accept-encoding", "")

    @property
    def media_type(self) -> str:
        """The Content-Type without parameters, in lower case; "" if there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def has_body(self) -> bool:
        return "transfer-encoding" in self.headers or self.headers.get("content-length", "0") != "0"

    @property
    def client(self) -> str:
        """The first word of the user agent, without its version: `kubectl`, `cilium-agent`."""
        words = self.user_agent.split()
        return words[0].split("/")[0] if words else "unknown"

    @property
    def wants_pretty(self) -> bool:
        """`?pretty` parsed as a boolean as in Go, by default True for a browser or a command-line tool."""
        if "pretty" in self.parameters and (pretty := self.parameter("pretty")):
            return pretty in TRUE
        return self.user_agent.startswith(("curl", "Wget", "Mozilla/5.0"))

    def parameter(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        values = self.parameters.get(name)
        return default if values is None else values[0]

    def flag(self, name: str) -> bool:
        """Return a boolean query parameter; without a value it counts as true, as in apimachinery."""
        return self.parameter(name, "false").lower() not in ("false", "0")

    async def body(self, limit: int = MAX_BODY_BYTES) -> bytes:
        """The whole body; BodyTooLarge as soon as it is known to exceed `limit` bytes, BodyIncomplete."""
        pieces: list[bytes] = []
        size = 0
        while True:
            message = self._ahead.pop(0) if self._ahead else await self._received()
            if message["type"] == "http.disconnect":
                raise BodyIncomplete
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > limit:
                raise BodyTooLarge
            pieces.append(piece)
            if not message.get("more_body", False):
                return b"".join(pieces)

    def disconnection(self) -> asyncio.Task[None]:
        """Return a task that ends once the client has disconnected (or when it is cancelled).

        The task reads the body ahead; `body` still returns all of it. During a body of more than
        MOST_READ_AHEAD bytes a disconnection is not detected.
        """
        return asyncio.ensure_future(self._until_disconnected())

    async def _until_disconnected(self) -> None:
        size = 0
        while not self._complete:
            message = await self._received()
            self._ahead.append(message)
            if message["type"] == "http.disconnect":
                return
            size += len(message.get("body", b""))
            if size > MOST_READ_AHEAD:
                await asyncio.get_running_loop().create_future()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _received(self) -> Message:
        """Return the next part of the body, which is not lost if this call is cancelled."""
        if self._receiving is None:
            self._receiving = asyncio.create_task(_awaited(self._receive))
        message = await asyncio.shield(self._receiving)
        self._receiving = None
        self._complete = not message.get("more_body", False)
        return message


def _values_of(query: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs(query):
        found.setdefault(name, []).append(value)
    return found


async def _awaited(receive: Receive) -> Message:
    """As a coroutine: granian's own futures wake one waiter only."""
    return await receive()
