"""`ktui decode`, as a shell sees it."""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ktui.cli.main import main
from ktui.wire.encode import encode_message, envelope_of

PAIRS = {"web": "10", "db": "x"}


@pytest.fixture
def config_map(tmp_path: Path) -> Path:
    message = encode_message(
        "core.v1.ConfigMap", {"metadata": {"name": "cm", "resourceVersion": "9"}, "data": PAIRS}
    )
    path = tmp_path / "cm.bin"
    path.write_bytes(envelope_of("v1", "ConfigMap", message))
    return path


def _run(capfd: pytest.CaptureFixture[str], *args: object) -> tuple[int, list[object], str]:
    status = main(["decode", *map(str, args)])
    out, err = capfd.readouterr()
    return status, [json.loads(line) for line in out.splitlines()], err


def test_a_line_a_file_in_their_order(
    capfd: pytest.CaptureFixture[str], config_map: Path, tmp_path: Path
) -> None:
    custom = tmp_path / "w.json"
    custom.write_bytes(b'{"apiVersion":"x.io/v1",\n "kind":"W", "n": 9007199254740993}')
    status, lines, err = _run(capfd, custom, config_map)
    assert (status, err) == (0, "")
    assert lines[0] == {"apiVersion": "x.io/v1", "kind": "W", "n": 9007199254740993}
    assert lines[1] == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "cm", "resourceVersion": "9"},
        "data": PAIRS,
    }


def test_the_mod_revision_becomes_the_resource_version(
    capfd: pytest.CaptureFixture[str], config_map: Path
) -> None:
    _, lines, _ = _run(capfd, "--mod-revision", 4711, config_map)
    assert lines[0]["metadata"]["resourceVersion"] == "4711"  # type: ignore[index]


def test_what_cannot_be_read_is_null_and_the_rest_goes_on(
    capfd: pytest.CaptureFixture[str], config_map: Path, tmp_path: Path
) -> None:
    secret, cut = tmp_path / "secret.bin", tmp_path / "cut.bin"
    secret.write_bytes(b"k8s:enc:secretbox:v1:key1:\x00\x01")
    cut.write_bytes(config_map.read_bytes()[:-9])
    status, lines, err = _run(capfd, secret, cut, tmp_path / "absent", config_map)
    assert status == 1
    assert lines[:3] == [None, None, None]
    assert lines[3] is not None
    told = err.splitlines()
    assert "secret.bin: encrypted (secretbox, key1)" in told[0]
    assert "cut.bin: " in told[1] and "truncated" in told[1]
    assert "absent: No such file" in told[2]


def test_a_newline_of_etcdctl_behind_the_value_is_no_harm(
    capfd: pytest.CaptureFixture[str], config_map: Path
) -> None:
    config_map.write_bytes(config_map.read_bytes() + b"\n")
    status, lines, _ = _run(capfd, config_map)
    assert status == 0
    assert lines[0]["kind"] == "ConfigMap"  # type: ignore[index]


def test_a_key_before_the_value_is_told(capfd: pytest.CaptureFixture[str], config_map: Path) -> None:
    config_map.write_bytes(b"/registry/configmaps/default/cm\n" + config_map.read_bytes())
    status, lines, err = _run(capfd, config_map)
    assert (status, lines) == (1, [])
    assert "--print-value-only" in err


@pytest.mark.parametrize(
    ("name", "args"),
    [("core.v1.ConfigMap.pb", ()), ("x.bin", ("--etcd-key", "/registry/configmaps/default/cm"))],
)
def test_a_value_without_a_type_takes_it_from_name_or_key(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, name: str, args: tuple[str, ...]
) -> None:
    path = tmp_path / name
    path.write_bytes(envelope_of("", "", encode_message("core.v1.ConfigMap", {"data": {"a": "b"}})))
    status, lines, _ = _run(capfd, *args, path)
    assert status == 0
    assert lines[0] == {"metadata": {}, "data": {"a": "b"}}


@pytest.mark.parametrize(("version", "shown"), [("1.34", False), ("1.35", True), ("v1.36.2", True)])
def test_a_kube_version_shows_what_it_knows(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, version: str, shown: bool
) -> None:
    path = tmp_path / "rule"
    message = encode_message("resource.v1alpha3.DeviceTaintRule", {"metadata": {"name": "r"}})
    path.write_bytes(envelope_of("resource.k8s.io/v1alpha3", "DeviceTaintRule", message))
    _, lines, _ = _run(capfd, "--kube-version", version, path)
    assert ("status" in lines[0]) is shown  # type: ignore[operator]


def test_an_unknown_kube_version_is_a_usage_error(
    capfd: pytest.CaptureFixture[str], config_map: Path
) -> None:
    status, lines, err = _run(capfd, "--kube-version", "7", config_map)
    assert (status, lines) == (2, [])
    assert "7" in err


def test_standard_input(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, config_map: Path
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(config_map.read_bytes())))
    assert _run(capfd, "-")[1][0]["data"] == PAIRS  # type: ignore[index]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"\x00")))
    assert "standard input: neither" in _run(capfd, "-")[2]


def test_neither_textual_nor_grpc_is_imported(config_map: Path) -> None:
    code = (
        "import sys; from ktui.cli.main import main; status = main(sys.argv[1:]); "
        "sys.exit(status or bool({'textual', 'grpc'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "decode", str(config_map)], capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
