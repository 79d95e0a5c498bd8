"""Options that the dashboard hands to its server."""

import argparse

import pytest

from ktui.cli import options
from ktui.cli.usage.describe import add_all, count
from ktui.cli.usage.shared import BEHAVIOUR, DEMO, LOG, SOURCE


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser()
    add_all(made, (SOURCE, BEHAVIOUR, DEMO, LOG))
    return made


@pytest.mark.parametrize(
    "words",
    [
        [],
        [
            "--etcd",
            "https://a:2379,https://b:2379",
            "--cacert",
            "ca",
            "--cert",
            "c",
            "--key",
            "k",
            "--allow-writes",
        ],
        ["--etcd", "--server-name", "etcd.internal"],
        ["--snapshot", "s.db.gz", "--warm", "pods,nodes", "--no-watch-cache", "--no-assume-watch-progress"],
        ["--kube-version", "1.24", "--feature-gates", "A=true", "--pods", "10", "--nodes", "3", "--quiet"],
        ["--log-file", "log", "--log-level", "debug", "--log-format", "json"],
        ["--assume-watch-progress", "--seed", "9", "--etcd-prefix", "/kubernetes.io", "--data-dir", "d"],
    ],
)
def test_what_is_passed_on_means_the_same(words: list[str]) -> None:
    given = parser().parse_args(words)
    assert parser().parse_args(options.passed_on(given)) == given


def test_the_password_goes_by_the_environment_never_by_the_command_line() -> None:
    args = parser().parse_args(["--user", "root:s3cret"])
    assert not any("s3cret" in word for word in options.passed_on(args))
    assert options.secrets_environment(args) == {"ETCDCTL_USER": "root:s3cret"}


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5", ""])
def test_a_size_that_is_none_is_named(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a number of at least 1"):
        count(text)


def test_sizes_may_be_written_as_people_do() -> None:
    assert count("100,000") == count("100_000") == 100_000
