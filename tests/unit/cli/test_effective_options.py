"""Options with the file and the environment behind them, for every command."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ktui.cli.dashboard import _add_sources, _over_metrics
from ktui.cli.effective_options import Parser, parse
from ktui.cli.main import COMMANDS, command_of, main, parser_of
from ktui.cli.options import context_environment, context_words, passed_on
from ktui.cli.view_options import kube_context_of, preferences_of
from ktui.config.errors import ConfigError
from ktui.config.settings import SETTINGS, settings_of
from ktui.tui.replay.source import ReplaySource
from ktui.tui.source import MergedSource

Parse = Callable[..., argparse.Namespace]

CONFIG = """
context = "prod"
[dashboard]
theme = "ktui-light"
[server]
kube-version = "1.30"
warm = ["pods"]
listen = "127.0.0.1:7000"
[demo]
pods = 77
[contexts.prod]
etcd = ["https://a:2379", "https://b:2379"]
cacert = "ca.crt"
user = "root:s3cret"
allow-writes = true
assume-watch-progress = false
kube-version = "1.28"
[contexts.old]
snapshot = "backup.db"
[contexts.there]
attach = "https://127.0.0.1:6443"
token = "T"
[contexts.kind]
kubeconfig = "kube.yaml"
kube-context = "kind-kind"
[contexts.both]
etcd = "http://e:2379"
kube-context = "kind-kind"
[contexts.all]
etcd = "http://e:2379"
kubeconfig = "kube.yaml"
kube-context = "kind-kind"
follow-audit = "audit.log"
"""
KUBECONFIG = "contexts: [{name: prod, context: {}}, {name: staging, context: {}}]\ncurrent-context: prod\n"


@pytest.fixture
def read(nobodys_settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parse:
    """Parse a command line beside CONFIG and a kubeconfig."""
    nobodys_settings.parent.mkdir(parents=True)
    nobodys_settings.write_text(CONFIG)
    nobodys_settings.chmod(0o600)
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))

    def words(*words: str, command: str = "dashboard", **environ: str) -> argparse.Namespace:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        return parse(parser_of("" if command == "dashboard" else command), words, command)

    return words


def source(args: argparse.Namespace, dest: str) -> str:
    found: str = args.configured.values[dest].source
    return found


def test_flags_beat_variables_beat_the_context_beats_the_file(read: Parse) -> None:
    args = read()
    assert (args.kube_version, source(args, "kube_version")) == ("1.28", "context")
    assert (args.theme, source(args, "theme")) == ("ktui-light", "config")
    assert (args.nodes, source(args, "nodes")) == (60, "default")
    args = read(KTUI_KUBE_VERSION="1.31")
    assert (args.kube_version, source(args, "kube_version")) == ("1.31", "env")
    args = read("--kube-version", "1.36")
    assert (args.kube_version, source(args, "kube_version")) == ("1.36", "flag")
    assert args.configured.values["kube_version"].where == "--kube-version"


def test_a_default_context_reaches_the_server_that_the_dashboard_starts(read: Parse, tmp_path: Path) -> None:
    args = read()
    assert args.etcd == "https://a:2379,https://b:2379"
    assert args.cacert == str(tmp_path / "config-home" / "ktui" / "ca.crt")
    assert "--allow-writes" in passed_on(args)
    assert not any("s3cret" in word for word in passed_on(args))


def test_options_that_are_repeated(read: Parse) -> None:
    assert read("a.log", "--aggregated", "a", "--aggregated", "b", command="audit").aggregated == ["a", "b"]
    assert read("a.log", command="audit").aggregated == []


def test_a_server_that_the_dashboard_starts_reads_no_settings(read: Parse) -> None:
    args = read("--parent", "1", command="serve", KTUI_PODS="5", KTUI_CONTEXT="old")
    assert (args.etcd, args.snapshot, args.pods, args.listen) == (None, None, 2_000, "127.0.0.1:0")


@pytest.mark.parametrize(
    ("words", "etcd", "snapshot", "attach"),
    [
        (("--context", "old"), None, "backup.db", None),
        (("--context", "none"), None, None, None),
        (("--context", "there"), None, None, "https://127.0.0.1:6443"),
        (("--snapshot", "mine.db"), None, "mine.db", None),
        (("--context", "both"), "http://e:2379", None, None),
        (("--kubeconfig", "k", "--context", "x"), "https://a:2379,https://b:2379", None, None),
    ],
)  # fmt: skip
def test_the_source_of_a_context(
    read: Parse, words: tuple[str, ...], etcd: str | None, snapshot: str | None, attach: str | None
) -> None:
    args = read(*words)
    assert args.etcd == etcd
    assert (Path(args.snapshot).name if args.snapshot else None) == snapshot
    assert args.attach == attach


def test_a_context_that_names_etcd_kubeconfig_and_audit_log_shows_all_three(
    read: Parse, nobodys_settings: Path
) -> None:
    kubeconfig = nobodys_settings.parent / "kube.yaml"
    kubeconfig.write_text("contexts: [{name: kind-kind, context: {}}]\n")
    args = read("--context", "all")
    assert args.etcd == "http://e:2379"
    kube_context = kube_context_of(args)
    assert kube_context == "kind-kind"
    assert not _over_metrics(args, kube_context)
    etcd = ReplaySource(nobodys_settings)
    merged = _add_sources(etcd, args, kube_context)
    assert isinstance(merged, MergedSource)
    assert [side.name for side in merged._sides] == ["metrics", "audit log"]
    assert args.follow_audit == str(nobodys_settings.parent / "audit.log")


@pytest.mark.parametrize("command", ["dashboard", "list", "bench"])
@pytest.mark.parametrize(
    ("words", "kubeconfig", "context"),
    [
        (("--context", "kind"), "kube.yaml", "kind-kind"),  # ktui's, which names a kubeconfig's
        (("--context", "staging"), "", "staging"),  # a kubeconfig's
        (("--context", "both"), "", "kind-kind"),
        (("--kubeconfig", "mine", "--context", "kind"), "mine", "kind"),  # that file's, whatever ktui's say
        (("--kubeconfig", "mine"), "mine", ""),
        (("--context", "prod"), "", ""),  # of both names: ktui's
    ],
)  # fmt: skip
def test_whose_context_it_is(
    read: Parse, command: str, words: tuple[str, ...], kubeconfig: str, context: str
) -> None:
    path = ("/api/v1/pods",) if command == "list" else ()
    args = read(*path, *words, command=command)
    assert Path(args.kubeconfig).name == kubeconfig
    assert args.context == context


def test_what_fires_takes_no_context_unasked(read: Parse) -> None:
    args = read("/api/v1/pods", command="list", KTUI_CONTEXT="kind")
    assert (args.kubeconfig, args.context, args.attach, args.configured.chosen) == ("", "", None, None)


def test_what_fires_at_a_context_attaches_or_starts_its_server(read: Parse) -> None:
    attached = read("/api/v1/pods", "--context", "there", command="list")
    assert (attached.attach, attached.token) == ("https://127.0.0.1:6443", "T")
    started = read("/api/v1/pods", "--context", "prod", command="list")
    context = started.configured.chosen.context
    words = context_words(context)
    assert "--etcd=https://a:2379,https://b:2379" in words
    assert "--allow-writes" in words and "--no-assume-watch-progress" in words
    assert not any("s3cret" in word for word in words)
    assert context_environment(context) == {"ETCDCTL_USER": "root:s3cret"}
    parser_of("serve").parse_args(words)


def test_serve_needs_an_etcd(read: Parse) -> None:
    assert read(command="serve").etcd == "https://a:2379,https://b:2379"
    assert read(command="serve").listen == "127.0.0.1:7000"
    assert read(command="serve", KTUI_CONTEXT="there").etcd is None
    with pytest.raises(ConfigError, match="--context kind names neither an etcd nor a snapshot"):
        read("--context", "kind", command="serve")


def test_an_unknown_context_gets_a_suggestion(read: Parse) -> None:
    with pytest.raises(ConfigError, match=r"no context 'stagign', neither .*; did you mean 'staging'\?"):
        read("--context", "stagign")


def test_a_demo_displaces_a_context_too(read: Parse) -> None:
    assert read("--demo", command="serve").etcd is None


def test_two_sources_exclude_each_other(read: Parse) -> None:
    with pytest.raises(ConfigError, match="--etcd and --context old exclude each other"):
        read("--context", "old", "--etcd", "h:1")


@pytest.mark.parametrize("way", ["flag", "env"])
def test_a_config_file_of_ones_own(read: Parse, tmp_path: Path, way: str) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text("[demo]\npods = 5\n")
    args = read("--config", str(mine)) if way == "flag" else read(KTUI_CONFIG=str(mine))
    assert (args.pods, args.theme) == (5, None)


def test_a_config_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", "/nowhere/c.toml"]) == 2
    assert capsys.readouterr().err == "ktui: there is no config file /nowhere/c.toml\n"


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        ("[dashboard]\nthem = 'x'\n", [], "toml:2: [dashboard] knows no 'them'; did you mean 'theme'?"),
        ("[dashboard]\ntheme = 'ktui-lihgt'\n", [], "toml:2: there is no theme 'ktui-lihgt'; did you"),
        ("", ["--theme", "nrod"], "--theme: there is no theme 'nrod'"),
        ("", ["--size", "big"], "--size 'big' is not a size: write it like 120x40"),
        ("", ["--kube-version", "1.99"], "1.99"),
        ("", ["--log-file", "/proc/nowhere/log"], "cannot write the log /proc/nowhere/log"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_starts(
    nobodys_settings: Path, text: str, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nobodys_settings.parent.mkdir(parents=True)
    nobodys_settings.write_text(text)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[keys]\nqiut = 'x'\n",
         "config.toml:2: [keys] no key is called 'qiut'; did you mean 'quit'?"),
        ("[keys]\nsort = 'f2'\nfilter = 'f2'\n",
         "config.toml:3: [keys] key 'f2' for 'filter' is bound to 'sort' (everywhere) as well: "
         "only one of them can act; give one another key"),
        ("[columns]\nrequests.lgo = ['ms']\n",
         "config.toml:2: [columns] there is no table 'requests.lgo'; did you mean 'requests.log'?"),
        ("[columns]\n'requests.log' = ['ms', 'clint']\n",
         "config.toml:2: [columns] requests.log has no column 'clint'; did you mean 'client'?"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_keys_and_columns_is_for_the_dashboard_to_tell(
    nobodys_settings: Path, read: Parse, text: str, sentence: str
) -> None:
    nobodys_settings.write_text(text)
    (told,) = preferences_of(read()).mistakes()
    assert told.endswith(sentence)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.id)
def test_every_setting_presets_an_option_of_its_commands(setting: Any) -> None:
    for command in setting.commands:
        parser = parser_of("" if command == "dashboard" else command)
        (action,) = [each for each in parser._actions if each.dest == setting.dest]
        assert setting.flag in action.option_strings


# Options that are chosen each time, or stand in a context.
NEVER_PRESET = {
    "help", "version", "config", "context", "kubeconfig", "aim", "parent", "attach", "token", "server_ca",
    "etcd", "snapshot", "demo", "cacert", "cert", "key", "server_name", "user", "etcd_prefix",
    "allow_writes", "insecure_http", "replay", "record", "screenshot", "press", "size", "page_of",
    "token_file", "token_auth_file", "authorization_mode", "prometheus", "follow_audit", "story",
    "max_requests_inflight", "max_mutating_requests_inflight", "enable_priority_and_fairness",
    "max_connections",
    "audit_log_path", "audit_policy_file", "audit_log_mode", "audit_log_maxsize", "audit_log_maxbackup",
    "audit_log_maxage", "http_log", "client_ca_file", "service_cluster_ip_range", "otlp",
    "disable_admission_plugins", "service_account_key_file", "service_account_signing_key_file",
    "service_account_issuer", "api_audiences",
    "tracing_config_file",
}  # fmt: skip


@pytest.mark.parametrize("command", ["", "serve"])
def test_every_option_has_a_setting_or_a_reason(command: str) -> None:
    presets = {setting.dest for setting in settings_of(command or "dashboard")}
    options = {each.dest for each in parser_of(command)._actions if each.option_strings}
    assert options - presets <= NEVER_PRESET


def test_every_command_that_has_settings_takes_a_config_file() -> None:
    for command in COMMANDS:
        options = {each.dest for each in parser_of(command)._actions}
        assert ("config" in options) is command_of(command).settings
        assert command_of(command).settings or not settings_of(command)


# What is wrong with a command line is one line.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tehme", "x"], "there is no option --tehme, did you mean --theme?; `ktui --help` for details"),
        (["--bogus"], "there is no option --bogus; `ktui --help` for details"),
        (["--kube-verison=1"],
         "there is no option --kube-verison=1, did you mean --kube-version?; `ktui --help` for details"),
        (["--zzz=1"], "there is no option --zzz=1; `ktui --help` for details"),
        (["--pods", "x"], "--pods: 'x' is not a number of at least 1; `ktui --help` for details"),
        (["list"], "the following arguments are required: PATH; `ktui list --help` for details"),
        (["list", "/a", "b"], "'b' is an unexpected argument; `ktui list --help` for details"),
        (["recording", "cut", "x"], "the following arguments are required: OUT; `ktui recording cut --help` "
         "for details"),
        (["web", "--port", "99999"], "--port 99999 is not a port: use 1 to 65535, or 0 for a free one"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(words)
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert capsys.readouterr().err == f"ktui: {said}\n"


def test_the_dashboard_says_that_it_needs_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.isatty", lambda descriptor: descriptor == 1)
    assert main([]) == 2
    assert "screens need a terminal" in capsys.readouterr().err


def test_help_wraps_a_description_and_keeps_the_lines_of_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = Parser(description="word " * 40, epilog="examples:\n  ktui list").format_help()
    assert "examples:\n  ktui list" in text
    assert sum("word word" in line for line in text.splitlines()) > 1
    assert max(map(len, text.splitlines())) <= 80
