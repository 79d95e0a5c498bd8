"""The budget file: every mistake is named with its key and line, and what is written can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.config.errors import ConfigError
from ktui.core.budgets.budget_file import LIMITS, ROUTES, VERBS, RequestBudget, budget_text, read_budgets

GOOD = """
# pods of one node
[[budget]]
client = "re:agent-[0-9]+"
verb = "LIST"
resource = "pods"
route = "etcd"
max = 3
max_per_minute = 2
max_objects = 120
max_bytes = 2_000_000

[[budget]]
client = "controller"
verb = "watch"
max = 4
max_relists = 0
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "budgets.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_entries_with_their_lines(tmp_path: Path) -> None:
    first, second = read_budgets(written(tmp_path, GOOD))
    assert first == RequestBudget(
        "re:agent-[0-9]+",
        "list",
        "pods",
        "etcd",
        {"max": 3, "max_per_minute": 2, "max_objects": 120, "max_bytes": 2_000_000},
        line=3,
    )
    assert (second.client, second.limits, second.line) == ("controller", {"max": 4, "max_relists": 0}, 13)
    assert first.title == "re:agent-[0-9]+ LIST pods from etcd"


@pytest.mark.parametrize(
    ("entry", "line", "says"),
    [
        ('maximum = 3\nclient = "a"', 3, "unknown key 'maximum'; did you mean 'max'"),
        ("max = 3\nmax_object = 3", 4, "unknown key 'max_object'; did you mean 'max_objects'"),
        ('client = ""\nmax = 3', 3, "client takes a text"),
        ("verb = 3\nmax = 3", 3, "verb takes a text"),
        ('max = 3\nverb = "lists"', 4, "there is no verb 'lists'; did you mean 'list'"),
        ('max = 3\nroute = "cash"', 4, "there is no route 'cash'; did you mean 'cache'"),
        ('client = "re:(a"\nmax = 3', 3, "client: error parsing regexp: missing closing ): `^(?:(a)$`"),
        ("max = -1", 3, "max takes a whole number of 0 or more, not -1"),
        ("max = true", 3, "not true"),
        ("max = 1.5", 3, "not 1.5"),
        ('max = "10"', 3, 'not "10"'),
        ("max_bytes = 9223372036854775808", 3, "max_bytes takes a whole number"),
        ('client = "a"', 2, "this budget has no limit: set max, max_per_minute"),
        ("max_relists = 1", 3, 'max_relists is for WATCHes: add verb = "watch"'),
        ('max = 3\n\n[[budget]]\nclient = "a"\nmax = 1\nclients = "b"', 8, "unknown key 'clients'"),
        ("max = 3\n[budget.more]\nx = 1", 4, "unknown key 'more'"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, entry: str, line: int, says: str) -> None:
    path = written(tmp_path, f"\n[[budget]]\n{entry}\n")
    with pytest.raises(ConfigError) as found:
        read_budgets(path)
    assert str(found.value).startswith(f"{path}:{line}: ")
    assert says in str(found.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is none"),
        ("budget = []", "there is none"),
        ("budget = 3", "there is none"),
        ("[budget]\nmax = 3", "write one [[budget]] or more"),
        ("[[budgets]]\nmax = 3", "unknown key 'budgets'"),
        ("[[budget]\nmax = 3", "is not valid TOML"),
        ("[[budget]]\nmax = 1\n" * 1_001, "1,001 budgets"),
        ("budget = [{max = 1}, {mx = 1}]", "budget 2: unknown key 'mx'"),
    ],
)
def test_a_file_without_usable_entries(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=r"budgets\.toml") as found:
        read_budgets(written(tmp_path, text))
    assert says in str(found.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no budget file"):
        read_budgets(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("client", "matching", "others"),
    [
        ("kubectl", ["kubectl"], ["kubectl2", "my-kubectl", ""]),
        ("re:kube-.*", ["kube-scheduler"], ["my-kube-scheduler"]),
        ("re:a|b", ["a", "b"], ["ab", "xa"]),
        ("k.bectl", ["k.bectl"], ["kubectl"]),
        ("", ["any", ""], []),
    ],
)
def test_a_client_is_matched_as_a_whole(client: str, matching: list[str], others: list[str]) -> None:
    test = RequestBudget(client).client_test()
    assert [name for name in [*matching, *others] if test(name)] == matching


TEXTS = st.text(min_size=1, max_size=30)
BUDGETS = st.builds(
    RequestBudget,
    client=st.one_of(st.just(""), TEXTS.filter(lambda text: not text.startswith("re:"))),
    verb=st.sampled_from(("", *VERBS)),
    resource=st.one_of(st.just(""), TEXTS),
    route=st.sampled_from(("", *ROUTES)),
    limits=st.dictionaries(
        st.sampled_from([limit for limit in LIMITS if limit != "max_relists"]),
        st.integers(0, 1 << 62),
        min_size=1,
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budgets=st.lists(BUDGETS, min_size=1, max_size=4), remark=st.text())
def test_what_is_written_is_read_again(tmp_path: Path, budgets: list[RequestBudget], remark: str) -> None:
    path = written(tmp_path, budget_text(budgets, ascii(remark)))
    again = read_budgets(path)
    assert [(b.client, b.verb, b.resource, b.route, b.limits) for b in again] == [
        (b.client, b.verb, b.resource, b.route, b.limits) for b in budgets
    ]
    assert all(budget.line for budget in again)
