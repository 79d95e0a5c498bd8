"""The composed LIST, and the same from elsewhere, in the room that there is."""

from __future__ import annotations

from ktui.core.lab.form import ListForm, path_of
from ktui.kube.resources import BUILTIN
from ktui.tui.lab.form_pane import preview_content

PODS = BUILTIN.by_name("pods")
assert PODS is not None


def asked(form: ListForm, width: int = 46, height: int = 30) -> str:
    return preview_content(path_of(form, PODS), form, PODS, width, height).plain


def test_every_other_form_stands_below_the_path_where_there_is_room() -> None:
    said = asked(ListForm(label_selector="app=web")).split("\n")
    assert said[0] == "GET /api/v1/pods?labelSelector=app=web"
    assert [text for text in said if text in ("kubectl", "curl", "client-go")] == [
        "kubectl",
        "curl",
        "client-go",
    ]
    assert all(len(text) <= 46 for text in said)


def test_nothing_of_a_long_command_is_missing() -> None:
    form = ListForm(label_selector=",".join(f"label-{n}=value-{n}" for n in range(12)))
    said = "".join(text.strip() for text in asked(form, height=60).split("\n"))
    assert f"kubectl get --raw'{path_of(form, PODS)}'" in said.replace("--raw '", "--raw'")


def test_a_form_that_does_not_fit_as_a_whole_is_left_out() -> None:
    assert asked(ListForm(), height=1) == "GET /api/v1/pods"
    assert asked(ListForm(), height=4).split("\n")[1:] == ["", "kubectl", "kubectl get --raw /api/v1/pods"]


def test_a_path_that_is_too_long_ends_in_an_ellipsis() -> None:
    said = asked(ListForm(label_selector="a" * 200), width=40, height=2)
    assert len(said.split("\n")) == 2 and said.endswith("…")


def test_nothing_to_send_shows_nothing() -> None:
    assert preview_content("", ListForm(resource="nonsense"), None, 40, 20).plain == ""
