"""Read kubeconfig files: cluster, user, and credentials.

Files are merged as kubectl merges those of `$KUBECONFIG`: of equal names the first one wins.
Tokens, token files, client certificates (files or data), passwords, and credential programs (`exec`)
are supported; a user with an auth-provider is an error.
"""

from __future__ import annotations

import base64
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ktui.client.connection import ClientError
from ktui.client.exec_plugin import Plugin, announcement, cluster_info, run_plugin
from ktui.client.kube_connection import KubeConnection, Material
from ktui.core.format import shorten
from ktui.documents.limits import DocumentError, read_bytes
from ktui.documents.yamlreader import read_yaml
from ktui.kube.json_trees import without_nulls

log = logging.getLogger(__name__)

SUPPORTED = "a token, a tokenFile, a client certificate, a user name with password, or a program (exec)"
MOST_BYTES = 8 << 20  # of a kubeconfig: room for a thousand contexts with certificates
MOST_SECRET_BYTES = 1 << 20  # of a token or certificate file
MOST_SHOWN = 80  # characters of a name shown in an error
MOST_NAMED = 20  # contexts listed in an error
PROXIES = ("http://", "https://")


class _Cluster(msgspec.Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class _User(msgspec.Struct, rename="kebab"):
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    username: str = ""
    password: str = ""
    exec: Plugin | None = None
    auth_provider: Any = None
    act_as: str = msgspec.field(default="", name="as")


class _Context(msgspec.Struct):
    cluster: str = ""
    user: str = ""


class _NamedCluster(msgspec.Struct):
    name: str
    cluster: _Cluster = msgspec.field(default_factory=_Cluster)


class _NamedUser(msgspec.Struct):
    name: str
    user: _User | None = None


class _NamedContext(msgspec.Struct):
    name: str
    context: _Context = msgspec.field(default_factory=_Context)


class _Config(msgspec.Struct):
    current_context: str = msgspec.field(default="", name="current-context")
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None


T = TypeVar("T")


def kubeconfig_files(given: str = "", environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Return `given`, else the existing files of `$KUBECONFIG`, else `~/.kube/config`."""
    if given:
        return [Path(given).expanduser()]
    listed = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    if listed:
        return [path for path in listed if path.exists()] or listed[:1]
    return [Path.home() / ".kube" / "config"]


def read_contexts(files: Sequence[Path]) -> tuple[list[str], str]:
    """Return the names of all contexts in order, and the current one. Raises ClientError."""
    names: dict[str, None] = {}
    current = ""
    for path in files:
        config = _read(path)
        current = current or config.current_context
        names |= dict.fromkeys(named.name for named in config.contexts or ())
    return list(names), current


def read_kubeconfig(
    files: Sequence[Path], context: str = "", *, terminal: bool = False,
    announce: Callable[[str], None] = log.info,
) -> KubeConnection:  # fmt: skip
    """Return the connection of `context` (default: the current one). Raises ClientError.

    Runs the user's credential program, if any, and waits for it; `terminal` lets it prompt there. `announce`
    gets a sentence before it runs.
    """
    connection, plugin, user, home = _chosen(files, context)
    if plugin is None:
        return connection
    cluster = cluster_info(connection)
    found = run_plugin(plugin, user, cluster, home, terminal=terminal, announce=announce)
    certificate, key = found.client_certificate_data.encode(), found.client_key_data.encode()
    return replace(
        connection,
        token=found.token,
        certificate=Material("client certificate", certificate) if certificate else connection.certificate,
        key=Material("client key", key) if certificate else connection.key,
    )


def credential_program(files: Sequence[Path], context: str = "") -> str:
    """Return the sentence that announces the user's credential program, which is not run; "" without one."""
    try:
        _, plugin, user, home = _chosen(files, context)
    except ClientError:
        return ""
    return announcement(plugin, user, home) if plugin is not None else ""


def _chosen(files: Sequence[Path], context: str) -> tuple[KubeConnection, Plugin | None, str, Path]:
    """Return a context's connection, and its user's credential program, name and directory."""
    clusters: dict[str, tuple[_Cluster, Path]] = {}
    users: dict[str, tuple[_User, Path]] = {}
    contexts: dict[str, _Context] = {}
    for path in files:
        config = _read(path)
        context = context or config.current_context
        for cluster in config.clusters or ():
            clusters.setdefault(cluster.name, (cluster.cluster, path.parent))
        for user in config.users or ():
            users.setdefault(user.name, (user.user or _User(), path.parent))
        for named in config.contexts or ():
            contexts.setdefault(named.name, named.context)
    where = ", ".join(str(path) for path in files)
    if not context:
        raise ClientError(f"{where} names no current-context: choose one with --context")
    chosen = _named(contexts, context, "context", where)
    cluster_found, cluster_home = _named(clusters, chosen.cluster, "cluster", where)
    if not chosen.user:
        users.setdefault("", (_User(), Path()))
    user_found, user_home = _named(users, chosen.user, "user", where)
    _refuse(chosen.user, user_found)
    connection = _connection(context, cluster_found, cluster_home, user_found, user_home)
    return connection, user_found.exec, chosen.user, user_home


def _read(path: Path) -> _Config:
    try:
        return msgspec.convert(without_nulls(read_yaml(read_bytes(path, MOST_BYTES))), _Config)
    except OSError as error:
        raise ClientError(f"cannot read the kubeconfig {path}: {error.strerror}") from error
    except (DocumentError, msgspec.ValidationError) as error:
        raise ClientError(f"{path} is not a kubeconfig: {' '.join(str(error).split())}") from error


def _named(things: Mapping[str, T], name: str, kind: str, where: str) -> T:
    if name not in things:
        some = [shorten(known, MOST_SHOWN) for known in sorted(things)[:MOST_NAMED]]
        more = f" and {len(things) - len(some):,} more" if len(things) > len(some) else ""
        known = f"{', '.join(some)}{more}" or "none"
        raise ClientError(f"{where} has no {kind} {_shown(name)} (it has: {known})")
    return things[name]


def _shown(name: str) -> str:
    """A quoted name, shortened: a hostile file can make it megabytes long."""
    return repr(shorten(name, MOST_SHOWN))


def _connection(
    context: str, cluster: _Cluster, cluster_home: Path, user: _User, user_home: Path
) -> KubeConnection:
    if not cluster.server.startswith(("https://", "http://")):
        raise ClientError(
            f"the cluster of context {_shown(context)} has no usable server: {_shown(cluster.server)}"
        )
    if cluster.proxy_url and not cluster.proxy_url.startswith(PROXIES):
        kind = shorten(cluster.proxy_url.partition(":")[0], MOST_SHOWN)
        raise ClientError(
            f"the proxy-url of context {_shown(context)} is of a kind that ktui does not know: {kind}"
        )
    return KubeConnection(
        url=cluster.server.rstrip("/"), token=_token(user, user_home), context=context,
        ca=_material(
            cluster.certificate_authority_data, cluster.certificate_authority, cluster_home, "CA certificate"
        ),
        certificate=_material(
            user.client_certificate_data, user.client_certificate, user_home, "client certificate"
        ),
        key=_material(user.client_key_data, user.client_key, user_home, "client key"), username=user.username,
        password=user.password, insecure=cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name, proxy_url=cluster.proxy_url,
    )  # fmt: skip


def _refuse(name: str, user: _User) -> None:
    """Raise ClientError for an authentication method that ktui does not support."""
    if user.auth_provider is not None:
        raise ClientError(
            f"user {_shown(name)} needs an auth-provider, which ktui does not have; it supports {SUPPORTED}"
        )
    if user.act_as:
        raise ClientError(f"user {_shown(name)} impersonates {_shown(user.act_as)}, which is not supported")


def _token(user: _User, home: Path) -> str:
    """Return the user's token; as in client-go, a token file takes precedence."""
    if not user.token_file:
        return user.token
    path = home / user.token_file
    try:
        return read_bytes(path, MOST_SECRET_BYTES).decode("ascii").strip()
    except OSError as error:
        raise ClientError(f"cannot read the token file {path}: {error.strerror}") from error
    except (DocumentError, UnicodeDecodeError):
        raise ClientError(f"the token file {path} does not contain a token") from None


def _material(data: str, file: str, home: Path, what: str) -> Material | None:
    """Return PEM from base64 data or from a file; data take precedence, as in client-go.

    None without both.
    """
    if data:
        try:
            return Material(what, base64.b64decode(data, validate=True))
        except ValueError as error:  # includes binascii.Error, and non-ASCII text
            raise ClientError(f"the {what} in the kubeconfig is not base64: {error}") from error
    if not file:
        return None
    try:
        return Material(what, read_bytes(home / file, MOST_SECRET_BYTES))
    except OSError as error:
        raise ClientError(f"cannot read the {what} {home / file}: {error.strerror}") from error
    except DocumentError as error:
        raise ClientError(f"cannot use the {what} {home / file}: {error}") from error
