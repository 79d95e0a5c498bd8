"""Default, file, context, environment: the later wins; a context is chosen once, or displaced."""

import pytest

from ktui.config.errors import ConfigError
from ktui.config.resolve import ResolvedValue, choose_context, preset, strange_variables
from ktui.config.settings import SETTINGS, Setting, environment_names

from .conftest import Write

CONTEXTS = """
    context = "prod"
    [server]
    kube-version = "1.30"
    [contexts.prod]
    etcd = "https://a:2379"
    kube-version = "1.28"
    [contexts.kind]
    kube-context = "kind-kind"
"""


def setting(wanted: str) -> Setting:
    return next(each for each in SETTINGS if each.id == wanted)


VERSION = setting("server.kube-version")


def test_the_later_wins(config: Write) -> None:
    found = config(CONTEXTS)
    chosen = choose_context(found, {}, flag=None, given=())
    path = found.file.path
    assert preset(VERSION, config(""), None, {}) is None
    assert preset(VERSION, found, None, {}) == ResolvedValue("1.30", "config", f"{path}:4")
    assert preset(VERSION, found, chosen, {}) == ResolvedValue("1.28", "context", f"{path}:7")
    environ = {"KTUI_KUBE_VERSION": "1.31"}
    assert preset(VERSION, found, chosen, environ) == ResolvedValue("1.31", "env", "KTUI_KUBE_VERSION")


@pytest.mark.parametrize(
    ("wanted", "text", "value"),
    [
        ("demo.pods", "10,000", 10_000),
        ("demo.quiet", "yes", True),
        ("dashboard.mouse", "off", False),
        ("dashboard.speed", "0.5", 0.5),
        ("server.warm", "pods,nodes", "pods,nodes"),
        ("server.feature-gates", "A=true", "A=true"),
        ("web.port", "0", 0),
    ],
)
def test_variables_are_read_as_options_are(config: Write, wanted: str, text: str, value: object) -> None:
    known = setting(wanted)
    found = preset(known, config(""), None, {known.env: text})
    assert found is not None and found.value == value


@pytest.mark.parametrize(
    ("wanted", "text", "sentence"),
    [
        ("demo.pods", "many", "KTUI_PODS is 'many'; write a number of at least 1"),
        ("demo.pods", "0", "KTUI_PODS is '0'; write a number of at least 1"),
        ("dashboard.mouse", "maybe", "KTUI_MOUSE is 'maybe'; write true or false"),
        ("dashboard.speed", "fast", "KTUI_SPEED is 'fast'; write a number above 0"),
        ("server.kube-version", "2.0", "KTUI_KUBE_VERSION is '2.0': "),
        ("log.level", "loud", "KTUI_LOG_LEVEL is 'loud'; write debug or info or warning or error"),
    ],
)
def test_a_wrong_variable_is_named(config: Write, wanted: str, text: str, sentence: str) -> None:
    known = setting(wanted)
    with pytest.raises(ConfigError) as error:
        preset(known, config(""), None, {known.env: text})
    assert str(error.value).startswith(sentence)


def test_an_empty_variable_is_none(config: Write) -> None:
    assert preset(VERSION, config(""), None, {"KTUI_KUBE_VERSION": ""}) is None


@pytest.mark.parametrize(
    ("environ", "flag", "given", "name"),
    [
        ({}, None, (), "prod"),
        ({"KTUI_CONTEXT": "kind"}, None, (), "kind"),
        ({"KTUI_CONTEXT": "kind"}, "prod", (), "prod"),
        ({}, "none", (), None),
        ({}, "", (), None),
        ({"KTUI_CONTEXT": "none"}, None, (), None),
        ({}, None, ("etcd",), None),
        ({}, None, ("replay",), None),
        ({"KTUI_CONTEXT": "prod"}, None, ("attach",), None),
        ({}, "kind", ("etcd",), "kind"),
    ],
)
def test_which_context(
    config: Write, environ: dict[str, str], flag: str | None, given: tuple[str, ...], name: str | None
) -> None:
    chosen = choose_context(config(CONTEXTS), environ, flag=flag, given=given)
    assert (chosen.context.name if chosen else None) == name


def test_two_sources_on_the_command_line_contradict_each_other(config: Write) -> None:
    with pytest.raises(ConfigError, match="--snapshot and --context prod exclude each other"):
        choose_context(config(CONTEXTS), {}, flag="prod", given=("snapshot",))


@pytest.mark.parametrize(("environ", "flag"), [({}, "prdo"), ({"KTUI_CONTEXT": "prdo"}, None)])
def test_an_unknown_context_gets_a_suggestion(
    config: Write, environ: dict[str, str], flag: str | None
) -> None:
    with pytest.raises(ConfigError, match=r"there is no context 'prdo' in .*; did you mean 'prod'"):
        choose_context(config(CONTEXTS), environ, flag=flag, given=())


def test_strange_variables_are_told() -> None:
    environ = {"KTUI_TEHME": "x", "KTUI_THEME": "y", "HOME": "/"}
    assert strange_variables(environ) == ["KTUI_TEHME means nothing to ktui; did you mean 'KTUI_THEME'?"]


def test_no_two_settings_share_a_variable_or_an_id() -> None:
    variables = [each.env for each in SETTINGS]
    assert len(set(variables)) == len(variables)
    assert len({each.id for each in SETTINGS}) == len(SETTINGS)
    assert set(variables) <= set(environment_names())
