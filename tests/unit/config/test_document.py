"""The config file: what it may say, and one clear sentence about what it may not."""

from pathlib import Path

import pytest

from ktui.config.document import read_config
from ktui.config.errors import ConfigError

from .conftest import Write

FULL = """
    context = "prod"

    [dashboard]
    theme = "ktui-light"
    symbols = "block"
    mouse = false
    speed = 2

    [server]
    kube-version = "1.30"
    feature-gates = { ConsistentListFromCache = true, WatchList = false }
    warm = ["pods", "nodes"]
    data-dir = "data"

    [demo]
    pods = 10_000

    [log]
    file = "~/ktui.log"

    [keys]
    go.lab = ["f5", "5"]
    "quit" = "ctrl+q"

    [columns]
    requests = ["route", "ms"]

    [contexts.prod]
    etcd = ["https://a:2379", "https://b:2379"]
    cacert = "ca.crt"
    kube-version = "1.28"
"""


def test_everything_at_once(config: Write, path: Path) -> None:
    found = config(FULL)
    assert found.context == "prod"
    assert found.values == {
        "dashboard.theme": "ktui-light",
        "dashboard.symbols": "block",
        "dashboard.mouse": False,
        "dashboard.speed": 2.0,
        "server.kube-version": "1.30",
        "server.feature-gates": "ConsistentListFromCache=true,WatchList=false",
        "server.warm": "pods,nodes",
        "server.data-dir": str(path.parent / "data"),
        "demo.pods": 10_000,
        "log.file": str(Path.home() / "ktui.log"),
    }
    assert found.keys == {"go.lab": "f5,5", "quit": "ctrl+q"}
    assert found.columns == {"requests": ("route", "ms")}
    assert found.contexts["prod"].values == {
        "etcd": "https://a:2379,https://b:2379",
        "cacert": str(path.parent / "ca.crt"),
        "kube_version": "1.28",
    }
    assert found.warnings == ()


def test_no_file_is_needed(path: Path) -> None:
    assert read_config(path).values == {}


def test_a_file_that_was_named_must_be_there(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no config file .*config\.toml"):
        read_config(path, required=True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[dashbord]", "config.toml:1: there is no table [dashbord]; did you mean 'dashboard'?"),
        ("contxt = 'a'", "config.toml:1: there is no setting 'contxt'; did you mean 'context'?"),
        ("[dashboard]\nthem = 'x'", "config.toml:2: [dashboard] knows no 'them'; did you mean 'theme'?"),
        ("[dashboard]\npods = 3", "config.toml:2: [dashboard] knows no 'pods'; it belongs in [demo]"),
        ("dashboard = 1", "config.toml:1: dashboard is a table: write [dashboard]"),
        ("[demo]\npods = 'many'", 'config.toml:2: [demo] pods is "many"; write a number of at least 1'),
        ("[demo]\npods = 0", "config.toml:2: [demo] pods is 0; write a number of at least 1"),
        ("[demo]\npods = true", "config.toml:2: [demo] pods is true; write a number of at least 1"),
        ("[demo]\nquiet = 'no'", 'config.toml:2: [demo] quiet is "no"; write true or false'),
        ("[dashboard]\nspeed = inf", "[dashboard] speed is Infinity; write a number above 0"),
        ("[dashboard]\nsymbols = 'dots'", 'symbols is "dots"; write braille or block or ascii'),
        ("[server]\nkube-version = '1.99'", "config.toml:2: [server] kube-version is \"1.99\": "),
        ("[server]\nkube-version = 1.30", "kube-version is 1.3; write a Kubernetes version"),
        ("[server]\nwarm = []", "warm is []; write a list of texts"),
        ("[server]\nfeature-gates = { A = 1 }", "write feature gates, like { WatchList = true }"),
        ("[server]\ntoken = 5", "[server] token is; write a text"),
        ("[keys]\nquit = 5", '[keys] quit takes a key, like "f5", or a list of them'),
        ("[columns]\nrequests = 'ms'", "[columns] requests takes a list of columns"),
        ("context = 'prdo'\n[contexts.prod]\netcd = 'h:1'", "no [contexts.prdo]; did you mean 'prod'?"),
        ("context = 'prod'", "config.toml:1: there is no [contexts.prod]; none is known"),
        ("context = 1", 'context takes a name, like "prod"'),
        ("contexts = 1", "contexts are tables: write [contexts.NAME]"),
        ("[contexts]\nprod = 'x'", "contexts.prod is not a table: write [contexts.prod]"),
        ("[contexts.none]\netcd = 'h:1'", "no context can be called 'none'"),
        ("[contexts.p]\netdc = 'h:1'", "config.toml:2: [contexts.p] knows no 'etdc'; did you mean 'etcd'?"),
        ("[contexts.p]\netcd = 'h:1'\nsnapshot = 'f'", "[contexts.p] has etcd and snapshot: choose one"),
        ("[contexts.p]\ncacert = 'f'", "[contexts.p] names no cluster: it needs etcd, snapshot"),
        ("[contexts.p]\nattach = 'u'\ncacert = 'f'", "has 'cacert', which also needs 'etcd'"),
        ("[contexts.p]\nattach = 'u'\ntoken = 12", "[contexts.p] token is; write a text"),
    ],
)  # fmt: skip
def test_one_sentence_names_the_place_and_the_right_word(config: Write, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        config(text)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


SECRET = "[contexts.p]\netcd = 'h:1'\nuser = 'root:s3cret'\n"


def test_a_password_that_others_can_read_is_warned_of(path: Path) -> None:
    path.write_text(SECRET)
    path.chmod(0o644)
    (warning,) = read_config(path).warnings
    assert warning.startswith(f"{path} holds a password or a token, and others can read it: chmod 600")


@pytest.mark.parametrize(("text", "mode"), [(SECRET, 0o600), (SECRET.replace(":s3cret", ""), 0o644)])
def test_a_private_file_or_a_name_alone_is_fine(path: Path, text: str, mode: int) -> None:
    path.write_text(text)
    path.chmod(mode)
    assert read_config(path).warnings == ()


def test_the_manuals_example_is_understood(config: Write) -> None:
    manual = (Path(__file__).parents[3] / "docs" / "config.md").read_text()
    found = config(manual.split("```toml\n")[1].split("```")[0])
    assert (found.context, list(found.contexts)) == ("prod", ["prod", "kind"])
