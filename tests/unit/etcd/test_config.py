"""Endpoints and etcdctl's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.etcd.client_config import config_from, parse_endpoint
from ktui.etcd.errors import EtcdError


@pytest.mark.parametrize(
    ("text", "tls_files", "target", "tls"),
    [
        ("http://127.0.0.1:2379", False, "127.0.0.1:2379", False),
        ("https://etcd.example:2379/", False, "etcd.example:2379", True),
        ("etcd.example", False, "etcd.example:2379", False),
        ("etcd.example:1", True, "etcd.example:1", True),
        ("http://etcd.example:1", True, "etcd.example:1", False),
        ("https://[::1]", False, "[::1]:2379", True),
        ("https://[::1]:99", False, "[::1]:99", True),
        ("unix:///run/etcd.sock", False, "unix:/run/etcd.sock", False),
    ],
)
def test_endpoints(text: str, tls_files: bool, target: str, tls: bool) -> None:
    endpoint = parse_endpoint(text, tls_files)
    assert (endpoint.target, endpoint.tls, endpoint.text) == (target, tls, text)


@pytest.mark.parametrize(
    "text", ["ftp://a", "http://", "https://a/b", "", "a:x", "a:70000", "a:", "a\x1b[31m:1"]
)
def test_what_is_no_endpoint(text: str) -> None:
    with pytest.raises(EtcdError, match="HOST:PORT"):
        parse_endpoint(text)


def test_options_win_over_etcdctls_environment() -> None:
    environ = {
        "ETCDCTL_ENDPOINTS": "a:1, b:2,",
        "ETCDCTL_CACERT": "/ca",
        "ETCDCTL_CERT": "/cert",
        "ETCDCTL_KEY": "/key",
        "ETCDCTL_USER": "me:secret:with:colons",
    }
    config = config_from(environ)
    assert config.endpoints == ("a:1", "b:2") and config.read_only
    assert (config.ca_file, config.cert_file, config.key_file) == (Path("/ca"), Path("/cert"), Path("/key"))
    assert (config.user, config.password) == ("me", "secret:with:colons")
    given = config_from(environ, endpoints="c:3", ca_file="/other", user="you", read_only=False)
    assert given.endpoints == ("c:3",) and given.ca_file == Path("/other") and not given.read_only
    assert given.user == "you"
    assert config_from({"ETCDCTL_PASSWORD": "p"}, user="you").password == "p"


def test_unverified_tls_is_refused() -> None:
    with pytest.raises(EtcdError, match="--cacert"):
        config_from({"ETCDCTL_INSECURE_SKIP_TLS_VERIFY": "true"})
