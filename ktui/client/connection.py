"""The address of a running server, and the credentials for it."""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_NUMBER = re.compile(r"-?[0-9]{1,18}")


def header_number(text: str) -> int:
    """Return the number in a header; 0 if it is not a number, or too large."""
    return int(text) if _NUMBER.fullmatch(text := text.strip()) else 0


def retry_after(headers: Mapping[str, str]) -> int:
    """Return the seconds of Retry-After; 0 without it."""
    return max(0, header_number(headers.get("Retry-After", "")))


class ClientError(Exception):
    """The server cannot be used; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class ServerConnection:
    """A server's address with its bearer token and the file of its CA certificate.

    `server_name`: the name that the server's certificate must have; "" for the URL's host.
    """

    url: str
    token: str = ""
    ca_file: Path | None = None
    server_name: str = ""

    @property
    def proxy(self) -> str | None:
        """The proxy's URL; None here: there is none between ktui and its own server."""
        return None

    @property
    def unauthorized(self) -> str:
        """The explanation of a 401 from this server."""
        return "the server does not accept this token (give it with --token-file or KTUI_TOKEN)"

    @property
    def untrusted(self) -> str:
        """What to do about an untrusted certificate."""
        return "give its CA with --server-ca"

    def timed_out(self) -> ClientError:
        return ClientError(f"the server at {self.url} did not answer in time")

    def failed(self, error: BaseException, *, connecting: bool) -> ClientError:
        """Return in one sentence why no connection came about (`connecting`), or why one broke off."""
        if connecting:
            if text := _tls_fault(error):
                untrusted = f"the certificate of {self.url} is not trusted: {text}"
                return ClientError(f"{untrusted} ({self.untrusted})")
            if text := _tls_alert(error):
                return ClientError(f"the TLS connection to {self.url} failed ({text})")
            return ClientError(f"no server answers at {self.url} ({_connect_fault(error)})")
        # With TLS 1.3 a server refuses a client's certificate only after the handshake.
        why = _tls_alert(error) or str(error) or type(error).__name__
        return ClientError(f"the connection to {self.url} broke off ({why})")

    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def ssl_context(self) -> ssl.SSLContext | bool:
        """Return a context that trusts the server's CA only (without one the system's); False for http."""
        if not self.url.startswith("https://"):
            return False
        # Not `create_default_context`: from Python 3.13 on it refuses certificates that kubectl accepts.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self.ca_file is None:
            context.load_default_certs()
            return context
        try:
            context.load_verify_locations(self.ca_file)
        except OSError as error:
            raise ClientError(f"cannot read the CA certificate {self.ca_file}: {error.strerror}") from error
        return context


def connection_from_url(url: str, token: str = "", ca_file: Path | None = None) -> ServerConnection:
    """Return a connection for a URL that a user typed. Raises ClientError if it is invalid."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # invalid IPv6 address or port
        valid = False
    if not valid:
        raise ClientError(f"{url!r} is not a server address: write it like https://127.0.0.1:6443")
    return ServerConnection(
        url=f"{parts.scheme}://{parts.netloc}",
        token=token or os.environ.get("KTUI_TOKEN", ""),
        ca_file=ca_file,
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _tls_fault(error: BaseException) -> str:
    """Return why the server's certificate is not trusted; "" if that is not the error."""
    # aiohttp's own error is of this type, too, but has no message.
    errors = (each for each in _causes(error) if isinstance(each, ssl.SSLCertVerificationError))
    return next((each.verify_message for each in errors if hasattr(each, "verify_message")), "")


def _tls_alert(error: BaseException) -> str:
    """Return OpenSSL's reason for a failed TLS connection (`alert certificate required`); "" if none."""
    reasons = (each.reason or str(each) for each in _causes(error) if isinstance(each, ssl.SSLError))
    return next(reasons, "").lower().replace("_", " ")


def _connect_fault(error: BaseException) -> str:
    """Return the system's error text for a failed connection, such as `connection refused`."""
    for each in _causes(error):
        if isinstance(each, OSError) and each.errno is not None:
            by_resolver = isinstance(each, socket.gaierror)  # which has its own error numbers
            return (str(each.strerror) if by_resolver else os.strerror(each.errno)).lower()
    return "connection refused"
