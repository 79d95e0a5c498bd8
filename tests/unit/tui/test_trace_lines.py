"""The panels below a request: what does not fit is seen to be cut."""

from __future__ import annotations

from textual.content import Content

from ktui.contract.events import RouteStep
from ktui.core.state import RequestRow
from ktui.tui.requests.why import command_content, trace_lines
from ktui.tui.widgets.lines import first_lines
from tests.tui.reads import asked


def shown(height: int) -> list[str]:
    (begun, _) = asked(1, query="fieldSelector=spec.nodeName%3Dnode-05&resourceVersion=0")
    row = RequestRow(begun)  # type: ignore[arg-type]
    return command_content(row, "https://127.0.0.1:6443", 40, height).plain.split("\n")


def test_a_command_that_does_not_fit_ends_in_an_ellipsis() -> None:
    whole = shown(20)
    assert whole[-1].endswith("Version=0'") and len(whole) > 4
    for height in range(1, len(whole)):
        cut = shown(height)
        assert len(cut) == height and cut[-1].endswith("…")
        assert all(len(text) <= 40 for text in cut)
        assert [text[:9] for text in cut if text.startswith("$")] == ["$ kubectl", "$ curl -s"][:height]
    assert shown(len(whole)) == whole


def test_a_command_that_is_cut_shows_as_much_as_fits() -> None:
    (begun, _) = asked(1, path="/apis/cilium.io/v2/ciliumendpoints", query="")
    cut = command_content(RequestRow(begun), "https://127.0.0.1:6443", 40, 2).plain.split("\n")  # type: ignore[arg-type]
    assert cut[0] == "$ kubectl get --raw /apis/cilium.io/v2/…"
    assert len(cut[1]) == 40 and cut[1].endswith("…")


def test_a_write_is_no_command() -> None:
    (begun, _) = asked(1, verb="POST", query="")
    drawn = command_content(RequestRow(begun), "https://127.0.0.1:6443", 80, 4).plain  # type: ignore[arg-type]
    assert drawn == "only reads have a command: no body is kept"


def test_the_ellipsis_takes_no_more_than_the_width() -> None:
    assert first_lines([Content("12345"), Content("x")], 5, 1).plain == "1234…"
    assert first_lines([Content("12"), Content("x")], 5, 1).plain == "12…"
    assert first_lines([Content("12")], 5, 0).plain == ""


def test_what_a_rule_saw_keeps_its_number_where_the_line_is_short() -> None:
    steps = [RouteStep("revision probe: wait until the cache has seen it", "cache at 48212", True)]
    (shown,) = trace_lines(steps, 56, 1)
    assert shown.plain == " 1 revision probe: wait until the …  cache at 48212  yes"
