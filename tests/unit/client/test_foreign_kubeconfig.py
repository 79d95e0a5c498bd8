"""A kubeconfig may come from anywhere: it connects, or one sentence says why not."""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.client.kubeconfig_reader import read_contexts, read_kubeconfig

CONFIG = f"""\
apiVersion: v1
kind: Config
current-context: admin
preferences: {{}}
clusters:
- name: prod
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: {base64.b64encode(b"no certificate").decode()}
    insecure-skip-tls-verify: false
    tls-server-name: api.example
    proxy-url: http://proxy.example:3128
contexts:
- name: admin
  context: {{cluster: prod, user: me, namespace: shop}}
users:
- name: me
  user:
    token: s3cret
    username: ann
    password: p:w
    client-certificate-data: {base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode()}
    client-key-data: ""
    exec: null
"""
WORDS = CONFIG.split()
WORDY = """
    &a [*a] | *nothing | !!python/object:os.system x | !!binary x | ? | --- | ... | %TAG ! x | 1e308 | -.inf
    .nan | null | ~ | [] | {} | true | " | ' | > | <<: *a | https://[ | https://x:99999999 |
    ftp://x | as: root |    client-key: /
    auth-provider: {name: x} | tokenFile: /dev/zero | certificate-authority: /dev/zero | ünï
    proxy-url: http://[
    """
LONG = ("- " * 3_000, "[" * 3_000, "{a: " * 3_000, "0x" + "f" * 9_000, "9" * 9_000)
NASTY = (*WORDY.replace("\n", "|").split("|"), *LONG, "\x00", "\x1b[2J", "\u202e", "\t", "|\n")


@st.composite
def kubeconfigs(draw: st.DrawFn) -> bytes:
    text = CONFIG
    for _ in range(draw(st.integers(1, 3))):
        word, nasty = draw(st.sampled_from(WORDS)), draw(st.sampled_from(NASTY))
        text = draw(
            st.sampled_from(
                (
                    text.replace(word, nasty, 1),
                    text.replace(word, f"{word} {nasty}", 1),
                    text.replace(word, "", 1),
                    text[: draw(st.integers(0, len(text)))] + nasty,
                    nasty + text,
                )
            )
        )
    data = text.encode("utf-8", "surrogatepass")
    at = draw(st.integers(0, len(data) - 1)) if data else 0
    return data[:at] + draw(st.sampled_from((b"", b"\xff", b"\xfe\xff"))) + data[at:]


def check_sentence(error: ClientError) -> None:
    text = str(error)
    assert "\n" not in text and 10 < len(text) < 3_000 and "s3cret" not in text


@settings(max_examples=150)
@given(kubeconfigs())
def test_mutated_kubeconfigs_connect_or_are_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config"
        path.write_bytes(content)
        for read in (read_contexts, read_kubeconfig):
            try:
                read([path])  # type: ignore[operator]
            except ClientError as error:
                check_sentence(error)
        try:
            ApiClient(read_kubeconfig([path]))
        except ClientError as error:
            check_sentence(error)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"- " * 50_000, "exceeded max depth"),
        (b"[" * 100_000, "exceeded max depth"),
        (bytes(9 << 20), "it is larger than 8,192 KiB"),
        (b"\x00\x01", "yaml: control characters are not allowed"),
        (b"a: 1\nb: c: d", "yaml: line 2: mapping values are not allowed in this context"),
        (b"clusters: [{name: [1]}]", "Expected `str`, got `array` - at `$.clusters[0].name`"),
        (b"contexts: [{name: a, context: {cluster: 7}}]", "Expected `str`, got `int`"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(ClientError) as raised:
        read_kubeconfig([path])
    assert says in str(raised.value) and str(raised.value).startswith(str(path))
    check_sentence(raised.value)


def test_devices_and_directories() -> None:
    for name in ("/dev/zero", "/", "/dev/null"):
        with pytest.raises(ClientError):
            read_kubeconfig([Path(name)])


def test_a_thousand_contexts_are_not_all_told(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("contexts:\n" + "".join(f"- {{name: c{number:04}}}\n" for number in range(1_000)))
    with pytest.raises(ClientError) as raised:
        read_kubeconfig([path], "nope")
    assert "c0000, c0001" in str(raised.value) and str(raised.value).endswith("c0019 and 980 more)")


@pytest.mark.parametrize("token", ["two\nlines", "ünï", "a\x00b"])
def test_a_token_file_that_holds_no_token(tmp_path: Path, token: str) -> None:
    (tmp_path / "token").write_text(token)
    path = tmp_path / "config"
    path.write_text(CONFIG.replace("token: s3cret", "tokenFile: token").replace("-data:", "-x:"))
    with pytest.raises(ClientError) as raised:
        ApiClient(read_kubeconfig([path]))
    assert token not in str(raised.value) and os.linesep not in str(raised.value)
