"""The selected request, and the rows of the Versions screen."""

from __future__ import annotations

import pytest

from ktui.contract.events import CacheStatus, RequestStarted, ServerInfo
from ktui.core.reducer import apply
from ktui.core.references import EXAMPLE, Selection, read_selection, selection_of
from ktui.core.state import RequestRow, State
from ktui.core.table.columns import plain
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of
from ktui.tui.versions.minor_rows import cause_sentences, causes_text, matrix_of, routes_under
from ktui.tui.versions.screen import changes_content, cheaper_content, columns, trace_content
from tests.unit.live.folded import recorded_events


def server(version: str, **gates: bool) -> ServerInfo:
    return ServerInfo(
        ktui_version="0", kube_version=version, etcd_version="3.5.21", etcd_kind="embedded", endpoints=[],
        writable=True, progress="supported", feature_gates=gates,
    )  # fmt: skip


def state_of(*events: object) -> State:
    state = State()
    apply(state, events)  # type: ignore[arg-type]
    return state


@pytest.mark.parametrize(
    ("text", "verb", "target"),
    [
        ("/api/v1/pods?limit=5", "LIST", "/api/v1/pods?limit=5"),
        ("/api/v1/nodes/n1", "GET", "/api/v1/nodes/n1"),
        ("watch /api/v1/pods", "WATCH", "/api/v1/pods"),
        ("LIST /api/v1/pods", "LIST", "/api/v1/pods"),
        ("/api/v1/pods?watch=1", "WATCH", "/api/v1/pods?watch=1"),
        ("deploy", "LIST", "/apis/apps/v1/deployments"),
        ("pods?resourceVersion=0", "LIST", "/api/v1/pods?resourceVersion=0"),
    ],
)
def test_what_can_be_typed(text: str, verb: str, target: str) -> None:
    selection = read_selection(text)
    assert (selection.verb, selection.target) == (verb, target)
    assert read_selection(selection.text) == selection, "what is offered to be edited reads back the same"


@pytest.mark.parametrize("text", ["", "pod s", "/metrics", "get /api/v1/pods", "nonsense", "/api/v1/podz"])
def test_what_makes_no_sense_says_why(text: str) -> None:
    with pytest.raises(RequestError):
        read_selection(text)


def test_only_reads_can_be_selected() -> None:
    def row(verb: str, resource: str = "pods") -> RequestRow:
        return RequestRow(
            RequestStarted(
                id=1, verb=verb, path="/api/v1/pods", query="limit=5", resource=resource, namespace="",
                name="", client="", user_agent="",
            )
        )  # fmt: skip

    assert selection_of(row("LIST"), "from x") == Selection("LIST", "/api/v1/pods?limit=5", "from x")
    assert selection_of(row("POST"), "from x") is None
    assert selection_of(row("GET", resource=""), "from x") is None
    assert selection_of(None, "from x") is None


def test_one_row_a_version_the_server_s_marked() -> None:
    matrix = matrix_of(EXAMPLE, state_of(server("1.30")))
    assert tuple(row.version for row in matrix.rows) == KNOWN_VERSIONS
    assert [row.version for row in matrix.rows if row.current] == ["1.30"]
    assert not any(row.current for row in matrix_of(EXAMPLE, State()).rows)


def test_groups_are_the_runs_of_equal_versions() -> None:
    matrix = matrix_of(EXAMPLE, state_of(server("1.30")))
    assert [row.versions for row in matrix.groups] == [
        "1.19",
        "1.20 – 1.22",
        "1.23 – 1.30",
        f"1.31 – 1.{NEWEST_MINOR}",
    ]
    assert [row.current for row in matrix.groups] == [False, False, True, False]
    assert matrix.groups[2].covers(25) and not matrix.groups[2].covers(31)
    assert matrix.changes == 3


def test_the_server_s_gates_hold_in_its_own_row() -> None:
    rows = {
        row.version: row
        for row in matrix_of(EXAMPLE, state_of(server("1.33", ConsistentListFromCache=False))).rows
    }
    assert rows["1.33"].under.outcome.route == "etcd"
    assert "−ConsistentListFromCache" in causes_text(rows["1.33"])
    assert "+ConsistentListFromCache" in causes_text(rows["1.34"])


def test_causes_are_named_with_their_stage() -> None:
    rows = {row.version: row for row in matrix_of(EXAMPLE, State()).rows}
    assert causes_text(rows["1.23"]) == "1.23 itself"
    assert cause_sentences(rows["1.23"]) == ["the release itself, no gate: seats"]
    assert cause_sentences(rows["1.31"]) == ["ConsistentListFromCache (beta) on: reason, route, wait"]


def test_seats_follow_the_size_where_it_is_known() -> None:
    state = state_of(CacheStatus(resource="pods", state="ready", rv=9, objects=450, bytes=450 * 6_000))
    outcomes = {row.version: row.under.outcome.seats for row in matrix_of(EXAMPLE, state).rows}
    assert outcomes["1.19"] == (0, 0) and outcomes["1.22"] == (1, 1) and outcomes["1.30"] == (9, 9)
    assert matrix_of(EXAMPLE, State()).rows[12].under.outcome.seats == (1, 10)


def test_over_a_live_cluster_its_own_limits_cap_the_seats() -> None:
    """--max-requests-inflight=30 leaves workload-low 21 seats, of which one request takes 3 at most."""
    state = state_of(*recorded_events())

    def seats(level: str) -> tuple[int, int]:
        matrix = matrix_of(Selection("LIST", "/api/v1/pods", "a test", level), state)
        (row,) = [row for row in matrix.rows if row.current]
        shown = trace_content(row, matrix.level, 100, 20).plain
        assert ("limit of its priority level is not known" in shown) == (matrix.level is None)
        return row.under.outcome.seats

    assert seats("workload-low") == (1, 3)
    assert seats("exempt") == seats("") == seats("gone") == (1, 10)


def test_a_server_of_a_version_that_is_not_known_here_marks_no_row() -> None:
    matrix = matrix_of(EXAMPLE, state_of(server("1.99")))
    assert len(matrix.rows) == len(KNOWN_VERSIONS) and not any(row.current for row in matrix.rows)


def test_a_request_that_cannot_be_understood_is_one_sentence() -> None:
    selection = Selection("GET", "/api/v1/namespaces/a/pods/x/log", "from Requests")
    matrix = matrix_of(selection, State())
    assert not matrix.rows and matrix.problem
    assert selection.text == selection.target, "it can be edited all the same"


def test_the_effect_of_a_choice() -> None:
    routes = routes_under(EXAMPLE, State(), behaviour_of("1.30"), behaviour_of("1.36"))
    assert routes == ["etcd", "cache"]


# What stands beside the walk where there is room.


def test_each_version_has_cheaper_forms_of_its_own() -> None:
    matrix = matrix_of(read_selection("/api/v1/pods"), State())
    by_version = {row.version: matrix.cheaper(row) for row in matrix.rows}
    assert by_version["1.24"][0].change == "add resourceVersion=0"
    said = cheaper_content(by_version["1.24"], 60, 20).plain
    assert said.startswith("→ add resourceVersion=0  C watch cache\n  ")
    assert cheaper_content((), 60, 20).plain == "no cheaper variant is known under this version"


def test_changes_are_told_by_version_with_their_gates() -> None:
    matrix = matrix_of(read_selection("/api/v1/pods"), State())
    told = changes_content(matrix.rows, 80, 20).plain.split("\n")
    assert "1.31  ConsistentListFromCache (beta) on: reason, route, wait" in told
    assert all(text[:4] in KNOWN_VERSIONS for text in told)
    assert (
        changes_content(matrix.rows[-2:], 80, 20).plain
        == f"1.{NEWEST_MINOR - 1} to 1.{NEWEST_MINOR} answer it the same way"
    )


def test_why_is_said_in_full_where_it_changed_and_copied_everywhere() -> None:
    matrix = matrix_of(read_selection("/api/v1/pods"), State())
    why = next(column for column in columns(grouped=False, limits=False) if column.id == "why")
    full = [row.version for row in matrix.rows if plain(why.cell(row)) != "·"]
    assert full == ["1.19", "1.31"]
    assert why.copied is not None and why.copied(matrix.rows[1]) == plain(why.cell(matrix.rows[0]))
