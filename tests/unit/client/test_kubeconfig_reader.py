"""Reading kubeconfigs: who is let in how, and what is refused in which words."""

import base64
import ssl
from pathlib import Path

import pytest

from ktui.client.connection import ClientError, ServerConnection
from ktui.client.kubeconfig_reader import kubeconfig_files, read_contexts, read_kubeconfig
from ktui.client.running import kubeconfig_document, write_kubeconfig

CONFIG = """\
apiVersion: v1
kind: Config
current-context: {current}
clusters:
- name: prod
  cluster: {{server: "https://10.0.0.1:6443/", {cluster}}}
contexts:
- name: admin
  context: {{cluster: prod, user: me, namespace: shop}}
users:
- name: me
  user: {{{user}}}
"""


def written(folder: Path, user: str = "", cluster: str = "", current: str = "admin", name: str = "c") -> Path:
    path = folder / name
    path.write_text(CONFIG.format(user=user, cluster=cluster, current=current))
    return path


def test_a_token(tmp_path: Path) -> None:
    found = read_kubeconfig([written(tmp_path, "token: s3cret")])
    assert found.url == "https://10.0.0.1:6443"
    assert found.headers() == {"Authorization": "Bearer s3cret"}
    assert "s3cret" not in repr(found)


def test_a_token_file_is_preferred_and_lies_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "tok").write_text("from-file\n")
    found = read_kubeconfig([written(tmp_path, "token: s3cret, tokenFile: tok")])
    assert found.token == "from-file"


def test_a_member_that_is_null_is_absent(tmp_path: Path) -> None:
    path = written(
        tmp_path, "token: s3cret, exec: null", "certificate-authority-data: null, extensions: null"
    )
    found = read_kubeconfig([path])
    assert (found.token, found.ca_file) == ("s3cret", None)
    path.write_text(path.read_text() + "preferences: null\n")
    assert read_contexts([path]) == (["admin"], "admin")


def test_a_password(tmp_path: Path) -> None:
    found = read_kubeconfig([written(tmp_path, "username: ann, password: 'p:w'")])
    assert found.headers() == {"Authorization": "Basic " + base64.b64encode(b"ann:p:w").decode()}


def test_skipping_verification_is_honoured_and_warned_of(tmp_path: Path) -> None:
    found = read_kubeconfig([written(tmp_path, cluster="insecure-skip-tls-verify: true")])
    context = found.ssl_context()
    assert isinstance(context, ssl.SSLContext)
    assert context.verify_mode is ssl.CERT_NONE
    assert len(found.warnings) == 1
    assert read_kubeconfig([written(tmp_path)]).warnings == []


def test_server_name_and_proxy(tmp_path: Path) -> None:
    cluster = "tls-server-name: api.example, proxy-url: 'http://proxy:3128'"
    found = read_kubeconfig([written(tmp_path, cluster=cluster)])
    assert (found.server_name, found.proxy) == ("api.example", "http://proxy:3128")


@pytest.mark.parametrize(
    ("user", "says"),
    [
        ("exec: {command: aws, args: [eks]}", "the program 'aws'"),
        ("auth-provider: {name: gcp}", "auth-provider"),
        ("as: root", "impersonates 'root'"),
        ("tokenFile: missing", "cannot read the token file"),
        ("client-certificate: missing.crt", "cannot read the client certificate"),
        ("client-key-data: '***'", "not base64"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, user: str, says: str) -> None:
    with pytest.raises(ClientError, match=says.replace("*", r"\*")):
        read_kubeconfig([written(tmp_path, user)])


def test_a_certificate_without_its_key(tmp_path: Path) -> None:
    data = base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode()
    found = read_kubeconfig([written(tmp_path, f"client-certificate-data: {data}")])
    with pytest.raises(ClientError, match="not both"):
        found.ssl_context()


def test_a_certificate_that_is_none(tmp_path: Path) -> None:
    data = base64.b64encode(b"nonsense").decode()
    found = read_kubeconfig([written(tmp_path, f"client-certificate-data: {data}, client-key-data: {data}")])
    with pytest.raises(ClientError, match="cannot be used"):
        found.ssl_context()


@pytest.mark.parametrize(
    ("content", "says"),
    [("]", "is not a kubeconfig"), ("users: 7", "is not a kubeconfig"), ("{}", "names no current-context")],
)
def test_a_file_that_is_none(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(ClientError, match=says):
        read_kubeconfig([path])


def test_a_missing_context_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match=r"no context 'prdo' \(it has: admin\)"):
        read_kubeconfig([written(tmp_path)], "prdo")


def test_files_are_merged_and_the_first_wins(tmp_path: Path) -> None:
    (tmp_path / "only-context").write_text("current-context: admin\n")
    first = written(tmp_path, "token: first", name="a", current="''")
    second = written(tmp_path, "token: second", name="b", current="nowhere")
    assert read_kubeconfig([tmp_path / "only-context", first, second]).token == "first"


def test_where_kubeconfigs_are_looked_for(tmp_path: Path) -> None:
    there = written(tmp_path)
    listed = {"KUBECONFIG": f"{tmp_path / 'gone'}:{there}"}
    assert kubeconfig_files("", listed) == [there]
    assert kubeconfig_files("given", listed) == [Path("given")]
    assert kubeconfig_files("", {})[0].parts[-2:] == (".kube", "config")


def test_what_ktui_writes_it_can_read(tmp_path: Path) -> None:
    connection = ServerConnection("http://127.0.0.1:1", "s3cret")
    write_kubeconfig(connection, tmp_path / "k")
    found = read_kubeconfig([tmp_path / "k"])
    assert (found.url, found.token) == ("http://127.0.0.1:1", "s3cret")
    assert found.warnings == ["credentials go out unencrypted (http://)"]
    assert kubeconfig_document(connection)["current-context"] == found.context


def test_all_contexts_are_named_with_the_current_one(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("contexts: [{name: a, context: {}}, {name: b, context: {}}]\ncurrent-context: b\n")
    two.write_text("contexts: [{name: b, context: {}}, {name: c, context: {}}]\ncurrent-context: c\n")
    assert read_contexts([one, two]) == (["a", "b", "c"], "b")
