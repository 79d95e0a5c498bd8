"""State files of running servers: `ktui kubeconfig`, `ktui list` and the dashboard find servers by them.

Each server has a directory (mode 0700) in the state directory, named by its process id, with `server.json`
(address and token), `kubeconfig`, and a copy of its certificate. Directories of ended processes are removed
when they are found.
"""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path

import msgspec
from msgspec import Struct

from ktui.client.connection import ServerConnection
from ktui.config import places
from ktui.documents.limits import DocumentError, decode_json, read_bytes
from ktui.private_file import write_private


class _StateFile(msgspec.Struct):
    url: str
    token: str
    ca_file: str
    pid: int
    started: float
    name: str = ""


class RunningServer(Struct, frozen=True):
    """A server that runs on this machine as the same user."""

    pid: int
    name: str
    started: float
    connection: ServerConnection
    directory: Path

    @property
    def kubeconfig(self) -> Path:
        return self.directory / "kubeconfig"


def state_home() -> Path:
    """Return `$XDG_STATE_HOME/ktui` (default `~/.local/state/ktui`)."""
    return places.state_home(os.environ)


def server_directory(pid: int) -> Path:
    """Return the private directory of server `pid`, created if missing (mode 0700)."""
    directory = state_home() / "servers" / str(pid)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return directory


def certificate_directory(host: str) -> Path:
    """Return the directory that keeps the certificate of servers at `host` between runs."""
    return state_home() / "certificates" / host.replace("/", "_")


def announce(connection: ServerConnection, *, pid: int, name: str, started: float) -> RunningServer:
    """Write the state file of a server that is ready."""
    directory = server_directory(pid)
    state = _StateFile(
        url=connection.url,
        token=connection.token,
        ca_file=str(connection.ca_file or ""),
        pid=pid,
        started=started,
        name=name,
    )
    write_private(directory / "server.json", msgspec.json.encode(state))
    return RunningServer(pid, name, started, connection, directory)


def withdraw(pid: int) -> None:
    shutil.rmtree(state_home() / "servers" / str(pid), ignore_errors=True)


def find_running() -> list[RunningServer]:
    """Return the running servers, newest first, and remove the state files of those that have ended."""
    found = []
    for path in (state_home() / "servers").glob("*/server.json"):
        pid = path.parent.name
        if not (pid.isdigit() and _alive(int(pid))):
            shutil.rmtree(path.parent, ignore_errors=True)
        elif server := _read(path):  # an invalid file of a running process may just be written
            found.append(server)
    return sorted(found, key=lambda server: server.started, reverse=True)


def find_by_url(url: str) -> RunningServer | None:
    """Return this user's running server at `url`; None if there is none."""
    return next((server for server in find_running() if server.connection.url == url.rstrip("/")), None)


def _read(path: Path) -> RunningServer | None:
    try:
        state = decode_json(read_bytes(path, 1 << 16), _StateFile)
    except (OSError, DocumentError):
        return None
    connection = ServerConnection(state.url, state.token, Path(state.ca_file) if state.ca_file else None)
    return RunningServer(state.pid, state.name, state.started, connection, path.parent)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def kubeconfig_document(connection: ServerConnection) -> dict[str, object]:
    """Return a v1 Config with one cluster, one user and one context, all named `ktui`."""
    cluster: dict[str, object] = {"server": connection.url}
    if connection.ca_file is not None:
        cluster["certificate-authority-data"] = base64.b64encode(connection.ca_file.read_bytes()).decode()
    user = {"token": connection.token} if connection.token else {}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "ktui", "cluster": cluster}],
        "users": [{"name": "ktui", "user": user}],
        "contexts": [{"name": "ktui", "context": {"cluster": "ktui", "user": "ktui"}}],
        "current-context": "ktui",
    }


def write_kubeconfig(connection: ServerConnection, path: Path) -> None:
    """Write the kubeconfig as JSON, which is also YAML, with mode 0600."""
    write_private(
        path, msgspec.json.format(msgspec.json.encode(kubeconfig_document(connection)), indent=2) + b"\n"
    )
