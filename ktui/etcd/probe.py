"""Find the failing step of a connection after gRPC has failed: DNS, TCP, TLS, or the protocol.

gRPC reports most of these as "failed to connect" or "socket closed". Short connections of ktui's own, without
a request, show the step.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

from ktui.etcd.client_config import Endpoint, EtcdConfig
from ktui.etcd.errors import UnreachableError

STEP_SECONDS = 4.0
ALERT_SECONDS = 2.0  # TLS 1.3: a server refuses a client's certificate only after the handshake
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"  # RFC 9113 §3.4: preface, SETTINGS

# OpenSSL's X509_V_ERR_…
_CERTIFICATE = {
    7: "the server's certificate is signed by another CA of the same name; check --cacert",
    9: "the server's certificate is not valid yet; check the clocks",
    10: "the server's certificate has expired; renew it, or check the clocks",
    18: "the server's certificate is self-signed; name it with --cacert if you trust it",
    19: "the server's certificate is signed by a CA that we do not know; check --cacert",
    20: "the server's certificate is signed by a CA that we do not know; check --cacert",
    62: "the server's certificate is for another host name; use one of its names or --server-name",
    64: "the server's certificate is for another address; use one of its names or --server-name",
}


async def probe(endpoint: Endpoint, config: EtcdConfig) -> UnreachableError | None:
    """Return the failing step with advice; None if all steps succeed, or for a Unix socket."""
    if endpoint.target.startswith("unix:"):
        return None
    return await asyncio.to_thread(_probe, endpoint, config)


class _Failed(Exception):
    """A step failed; the error has its name and a message."""

    def __init__(self, step: str, what: str) -> None:
        super().__init__(what)
        self.step = step


def _probe(endpoint: Endpoint, config: EtcdConfig) -> UnreachableError | None:
    host, _, port = endpoint.target.rpartition(":")
    host = host.strip("[]")
    try:
        with _connected(host, int(port)) as connection:
            if endpoint.tls:
                _shake_hands(connection, config, host, int(port))
            elif _speaks_tls(connection, host):
                raise _Failed("TLS", "it speaks TLS there; write https:// (and --cacert, --cert, --key)")
    except _Failed as failed:
        detail = str(failed.__cause__ or "")
        return UnreachableError(f"etcd {endpoint.text}: {failed} ({failed.step}).", detail, failed.step)
    return None


def _connected(host: str, port: int) -> socket.socket:
    try:
        return socket.create_connection((host, port), STEP_SECONDS)
    except socket.gaierror as error:
        raise _Failed("DNS", f"the host name {host!r} cannot be resolved; check the name") from error
    except TimeoutError as error:
        what = f"no answer within {STEP_SECONDS:.0f} s; does a firewall swallow it, is the address right?"
        raise _Failed("TCP", what) from error
    except ConnectionRefusedError as error:
        raise _Failed("TCP", "connection refused; is etcd running there, is it the client port?") from error
    except OSError as error:
        raise _Failed("TCP", f"no connection, {(error.strerror or str(error)).lower()}") from error


def _shake_hands(connection: socket.socket, config: EtcdConfig, host: str, port: int) -> None:
    try:
        with _context(config).wrap_socket(connection, server_hostname=config.server_name or host) as tls:
            tls.settimeout(ALERT_SECONDS)
            with contextlib.suppress(TimeoutError):  # no alert within this time: accepted
                tls.recv(1)
    except ssl.SSLCertVerificationError as error:
        what = _CERTIFICATE.get(error.verify_code, f"the server's certificate: {error.verify_message}")
        raise _Failed("TLS", what) from error
    except OSError as error:  # includes SSLError
        # Whether the connection ends with a FIN, a reset or silence depends on timing and means nothing.
        plain = _speaks_plainly(host, port)
        what = "it does not speak TLS there; write http://" if plain else _refusal(error, config)
        raise _Failed("TLS", what) from error


def _speaks_plainly(host: str, port: int) -> bool:
    """Return True if HTTP/2's preface, sent unencrypted, is answered by HTTP/2 or by an HTTP/1 error."""
    try:
        with socket.create_connection((host, port), STEP_SECONDS) as connection:
            connection.sendall(GREETING)
            frame = connection.recv(9)
    except OSError:
        return False
    return frame.startswith(b"HTTP/1") or frame[3:4] == b"\x04"  # frame type SETTINGS


def _refusal(error: OSError, config: EtcdConfig) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer to the handshake within {STEP_SECONDS:.0f} s"
    if not isinstance(error, ssl.SSLError) or isinstance(error, ssl.SSLEOFError):
        return "it breaks the handshake off; is it etcd's client port?"
    reason = (error.reason or str(error)).lower().replace("_", " ")
    if "alert" in reason and ("certificate" in reason or "unknown ca" in reason):
        if config.cert_file is None:
            return "the server wants a client certificate; give one with --cert and --key"
        return f"the server does not accept our client certificate, {reason}; check --cert and --key"
    if "wrong version" in reason or "http request" in reason or "record layer" in reason:
        return "it does not speak TLS there"
    return f"the handshake failed, {reason}"


def _context(config: EtcdConfig) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=config.ca_file)
        context.set_alpn_protocols(["h2"])
        if config.cert_file and config.key_file:
            context.load_cert_chain(config.cert_file, config.key_file)
    except (ssl.SSLError, OSError) as error:
        raise _Failed(
            "TLS", "--cacert, --cert or --key is not a usable PEM file, or they do not match"
        ) from error
    return context


def _speaks_tls(connection: socket.socket, host: str) -> bool:
    """Return True if a plain endpoint answers a TLS handshake, with any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(connection, server_hostname=host):
            return True
    except ssl.SSLError as error:
        return "alert" in str(error).lower()
    except OSError:
        return False
