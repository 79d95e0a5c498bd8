"""Get credentials from a program named in a kubeconfig (`users[].user.exec`), as client-go does.

The program reads KUBERNETES_EXEC_INFO and prints an ExecCredential.
"""

from __future__ import annotations

import atexit
import base64
import logging
import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ktui.client.connection import ClientError
from ktui.client.kube_connection import KubeConnection
from ktui.core.format import shorten
from ktui.documents.limits import DocumentError, decode_json

log = logging.getLogger(__name__)

SHOWN = 200  # characters of a command
_SECRET_OPTION = re.compile(r"--?[\w-]*(secret|password|passphrase|token|key)[\w-]*", re.IGNORECASE)
# A login in the browser may take long.
SECONDS = 120.0
MOST_BYTES = 1 << 20  # of the program's output: certificates have a few kilobytes
GROUP = "client.authentication.k8s.io/"
PATIENCE = 2.0  # seconds after which `waiting` reports a running program
_running: dict[subprocess.Popen[bytes], tuple[str, float]] = {}  # command and start (monotonic seconds)


class _Variable(msgspec.Struct):
    name: str = ""
    value: str = ""


class Plugin(msgspec.Struct):
    """The field `exec` of a kubeconfig user: the program, and how to run it."""

    command: str = ""
    args: list[str] | None = None
    env: list[_Variable] | None = None
    api_version: str = msgspec.field(default="", name="apiVersion")
    install_hint: str = msgspec.field(default="", name="installHint")
    provide_cluster_info: bool = msgspec.field(default=False, name="provideClusterInfo")
    interactive_mode: str = msgspec.field(default="IfAvailable", name="interactiveMode")


class Credential(msgspec.Struct, frozen=True, rename="camel"):
    """The program's output: a token, or a client certificate with its key (PEM)."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""

    def __repr__(self) -> str:
        return "Credential()"  # never show a secret


class _ExecCredential(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: Credential | None = None


def announcement(plugin: Plugin, user: str, home: Path) -> str:
    """Return a sentence for users, before the program runs: a kubeconfig of others can name any program."""
    words = " ".join([_program(plugin, home), *_shown_arguments(plugin.args or ())])
    return f"the kubeconfig gets the credentials of user {user[:80]!r} by running {shorten(words, SHOWN)!r}"


def _shown_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, with `…` for the values of options such as `--client-secret`."""
    hides = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        secret = _SECRET_OPTION.fullmatch(name) is not None
        yield "…" if hides else f"{name}=…" if secret and equals else argument
        hides = secret and not equals and not hides


def run_plugin(
    plugin: Plugin, user: str, cluster: dict[str, Any], home: Path, *, terminal: bool,
    announce: Callable[[str], None] = log.info,
) -> Credential:  # fmt: skip
    """Run the program and return its credential. Raises ClientError.

    `terminal`: the program may prompt there. `cluster` is passed to it if its `provideClusterInfo` is set;
    `home` is the kubeconfig's directory. `announce` gets the sentence that says what will run.
    """
    who = f"user {user[:80]!r} gets its credentials from the program {plugin.command[:80]!r}"
    if not plugin.api_version.startswith(GROUP):
        raise ClientError(f"{who}, of an API that is not known: {plugin.api_version!r}")
    asks = terminal and plugin.interactive_mode != "Never"
    if plugin.interactive_mode == "Always" and not asks:
        raise ClientError(f"{who}, which has to ask at a terminal: `ktui list` in a shell lets it")
    spec: dict[str, Any] = {"interactive": asks}
    if plugin.provide_cluster_info:
        spec["cluster"] = cluster
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    environment = {
        **os.environ,
        **{variable.name: variable.value for variable in plugin.env or ()},
        "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode(),
    }
    announce(announcement(plugin, user, home))
    return _read(_run(plugin, who, home, environment, asks=asks), plugin, who)


def waiting() -> str:
    """Return a sentence about a program that has run for more than PATIENCE seconds; "" if none has."""
    for command, since in list(_running.values()):
        seconds = time.monotonic() - since
        if seconds >= PATIENCE:
            return (
                f"the program {command[:80]!r} has given no credentials for {seconds:.0f} s; "
                f"it is ended after {SECONDS:.0f} s"
            )
    return ""


@atexit.register
def _end_all() -> None:
    """Kill programs that still run when ktui exits."""
    for process in list(_running):
        process.kill()


def _program(plugin: Plugin, home: Path) -> str:
    """Return the program's path, relative to the kubeconfig, or its name."""
    return str(home / plugin.command) if os.sep in plugin.command else plugin.command


def _run(plugin: Plugin, who: str, home: Path, environment: dict[str, str], *, asks: bool) -> bytes:
    try:
        process = subprocess.Popen(
            [_program(plugin, home), *(plugin.args or ())],
            env=environment,
            stdin=None if asks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if asks else subprocess.PIPE,
        )
        _running[process] = (plugin.command, time.monotonic())
        try:
            with process:
                out, errors = _output(process, who)
        finally:
            del _running[process]
    except FileNotFoundError:
        hint = f": {plugin.install_hint.strip()}" if plugin.install_hint.strip() else ""
        raise ClientError(f"{who}, which is not found{hint}") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in an argument
        why = error.strerror if isinstance(error, OSError) else error
        raise ClientError(f"{who}, which cannot be run: {why}") from error
    if process.returncode != 0:
        text = errors.decode("utf-8", "replace").strip().splitlines()
        reason = f": {text[-1][:300]}" if text else ""
        raise ClientError(f"{who}, which failed with status {process.returncode}{reason}")
    return out


def _output(process: subprocess.Popen[bytes], who: str) -> tuple[bytes, bytes]:
    """Return the program's standard output, and the end of its standard error.

    Kills it and raises ClientError on timeout or too much output.
    """
    deadline = time.monotonic() + SECONDS
    texts: dict[Any, bytearray] = {
        stream: bytearray() for stream in (process.stdout, process.stderr) if stream is not None
    }
    try:
        with selectors.DefaultSelector() as selector:
            for stream in texts:
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise ClientError(f"{who}, which gave none within {SECONDS:.0f} s")
                for key, _ in ready:
                    if not (chunk := os.read(key.fd, 1 << 16)):
                        selector.unregister(key.fileobj)
                    text = texts[key.fileobj]
                    text += chunk
                    if len(text) > MOST_BYTES + (1 << 17):  # only the end of standard error is used
                        del text[:MOST_BYTES]
                if len(texts[process.stdout]) > MOST_BYTES:
                    raise ClientError(f"{who}, which printed more than {MOST_BYTES >> 20} MiB")
        process.wait(max(0.0, deadline - time.monotonic()))
    except (ClientError, subprocess.TimeoutExpired) as error:
        process.kill()
        if isinstance(error, ClientError):
            raise
        raise ClientError(f"{who}, which did not end within {SECONDS:.0f} s") from None
    errors = texts.get(process.stderr, bytearray())
    return bytes(texts[process.stdout]), bytes(errors)


def _read(out: bytes, plugin: Plugin, who: str) -> Credential:
    try:
        answer = decode_json(out, _ExecCredential)
    except DocumentError:
        raise ClientError(f"{who}, which printed no ExecCredential") from None
    if answer.kind != "ExecCredential" or answer.api_version != plugin.api_version:
        found = f"{answer.api_version[:60]} {answer.kind[:60]}".strip() or "something else"
        raise ClientError(
            f"{who}, which printed {found} instead of an ExecCredential of {plugin.api_version}"
        )
    status = answer.status
    if status is None or not (status.token or status.client_certificate_data):
        raise ClientError(f"{who}, which printed neither a token nor a client certificate")
    return status


def cluster_info(connection: KubeConnection) -> dict[str, Any]:
    """Return the cluster's description for a program with `provideClusterInfo`."""
    info: dict[str, Any] = {"server": connection.url, "insecure-skip-tls-verify": connection.insecure}
    if connection.ca is not None:
        info["certificate-authority-data"] = base64.b64encode(connection.ca.pem).decode()
    if connection.server_name:
        info["tls-server-name"] = connection.server_name
    return info | ({"proxy-url": connection.proxy_url} if connection.proxy_url else {})
