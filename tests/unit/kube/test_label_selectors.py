"""Label selectors: grammar, texts, matching."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.selectors import LabelSelector, Operator, Requirement
from ktui.kube.selectors.requirements import all_of
from ktui.kube.status import StatusError
from tests.unit.growth import steps


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("", ()),
        ("  ", ()),
        ("app=web", (Requirement("app", Operator.EQUALS, ("web",)),)),
        ("app == web", (Requirement("app", Operator.EQUALS, ("web",)),)),
        ("app!=web", (Requirement("app", Operator.NOT_EQUALS, ("web",)),)),
        ("app=", (Requirement("app", Operator.EQUALS, ("",)),)),
        ("app=,b", (Requirement("app", Operator.EQUALS, ("",)), Requirement("b", Operator.EXISTS))),
        ("app in (web, cart)", (Requirement("app", Operator.IN, ("cart", "web")),)),
        ("app notin(a)", (Requirement("app", Operator.NOT_IN, ("a",)),)),
        ("app in ()", (Requirement("app", Operator.IN, ("",)),)),
        ("app in (,a,,b,)", (Requirement("app", Operator.IN, ("", "a", "b")),)),
        ("in in (in,notin)", (Requirement("in", Operator.IN, ("in", "notin")),)),
        ("in=notin", (Requirement("in", Operator.EQUALS, ("notin",)),)),
        ("!canary", (Requirement("canary", Operator.DOES_NOT_EXIST),)),
        ("! a.b/c", (Requirement("a.b/c", Operator.DOES_NOT_EXIST),)),
        ("size>5,size<9", (Requirement("size", Operator.GREATER_THAN, ("5",)),
                           Requirement("size", Operator.LESS_THAN, ("9",)))),
        ("a\0=b", (Requirement("a", Operator.EQUALS, ("b",)),)),
        ("a=b,c \0d", (Requirement("a", Operator.EQUALS, ("b",)), Requirement("c", Operator.EXISTS))),
        ("a\n=\tb", (Requirement("a", Operator.EQUALS, ("b",)),)),
    ],
)  # fmt: skip
def test_grammar(text: str, requirements: tuple[Requirement, ...]) -> None:
    selector = LabelSelector.parse(text)
    assert selector.requirements == requirements
    assert selector.empty is (not requirements)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("=web", "found '=', expected: !, identifier, or 'end of string'"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("(a", "found '(', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a in (b) c", "found 'c', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!!a", "unable to parse requirement: found '!', expected: identifier"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a!", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=(b)", "unable to parse requirement: found '(', expected: identifier"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in", "unable to parse requirement: found '' expected: '('"),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"),
        ("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("a in (b,!)", "unable to parse requirement: found '!', expected: ',', or identifier"),
        (
            "a>x",
            'unable to parse requirement: values[0]: Invalid value: "x": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        (
            f"a={'v' * 64}",
            "unable to parse requirement: values[0][a]: Invalid value: "
            f'"{"v" * 64}": must be no more than 63 bytes',
        ),
        (
            "/a",
            'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty',
        ),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(StatusError) as error:
        LabelSelector.parse(text)
    assert (error.value.code, error.value.reason, error.value.message) == (400, "BadRequest", message)


def test_bad_values_are_numbered_in_sorted_order() -> None:
    with pytest.raises(StatusError) as error:
        LabelSelector.parse("a in (z*,ok,b*)")
    assert "[values[0][a]: Invalid value" in error.value.message
    assert "values[2][a]: Invalid value" in error.value.message


@pytest.mark.parametrize(
    ("text", "labels", "matches"),
    [
        ("app=web", {"app": "web"}, True),
        ("app=web", {}, False),
        ("app=", {}, False),
        ("app=", {"app": ""}, True),
        ("app!=web", {}, True),
        ("app!=web", {"app": "web"}, False),
        ("app in (a,b)", {"app": "b"}, True),
        ("app in (a,b)", {}, False),
        ("app notin (a,b)", {}, True),
        ("app notin (a,b)", {"app": "a"}, False),
        ("app", {"app": ""}, True),
        ("!app", {"app": ""}, False),
        ("size>5", {"size": "6"}, True),
        ("size>5", {"size": "5"}, False),
        ("size<5", {"size": "-7"}, True),
        ("size>5", {"size": "big"}, False),
        ("size>5", {}, False),
        ("a=1,b=2", {"a": "1", "b": "2"}, True),
        ("a=1,b=2,!c", {"a": "1", "b": "2", "c": ""}, False),
        ("", {"any": "thing"}, True),
    ],
)
def test_matching(text: str, labels: dict[str, str], matches: bool) -> None:
    assert LabelSelector.parse(text).matches(labels) is matches


_KEYS = st.sampled_from(["app", "tier", "in", "a.b/c", "x-1"])
_VALUES = st.sampled_from(["", "web", "cart", "in", "7", "12"])
_NUMBERS = st.sampled_from(["0", "7", "12"])
_REQUIREMENTS = st.one_of(
    st.builds(
        lambda k, o: Requirement(k, o), _KEYS, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])
    ),
    st.builds(
        lambda k, o, v: Requirement(k, o, (v,)),
        _KEYS,
        st.sampled_from([Operator.EQUALS, Operator.NOT_EQUALS]),
        _VALUES,
    ),
    st.builds(
        lambda k, o, v: Requirement(k, o, (v,)),
        _KEYS,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        _NUMBERS,
    ),
    st.builds(
        lambda k, o, v: Requirement(k, o, tuple(sorted(v))),
        _KEYS,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.sets(_VALUES, min_size=1),
    ),
)


@given(st.lists(_REQUIREMENTS, max_size=5))
def test_a_selector_reads_what_it_prints(requirements: list[Requirement]) -> None:
    printed = str(LabelSelector(requirements))
    assert LabelSelector.parse(printed).requirements == tuple(sorted(requirements, key=lambda r: r.key))


def _by_the_book(requirement: Requirement, labels: dict[str, str]) -> bool:
    key, operator, values = requirement.key, requirement.operator, requirement.values
    value = labels.get(key)
    match operator:
        case Operator.EXISTS:
            return value is not None
        case Operator.DOES_NOT_EXIST:
            return value is None
        case Operator.IN | Operator.EQUALS:
            return value is not None and value in values
        case Operator.NOT_IN | Operator.NOT_EQUALS:
            return value is None or value not in values
    numeric = value is not None and value.lstrip("-").isdecimal()
    if not numeric:
        return False
    assert value is not None
    return int(value) > int(values[0]) if operator is Operator.GREATER_THAN else int(value) < int(values[0])


@given(st.lists(_REQUIREMENTS, max_size=4), st.dictionaries(_KEYS, _VALUES))
def test_matching_is_all_requirements(requirements: list[Requirement], labels: dict[str, str]) -> None:
    wanted = all(_by_the_book(r, labels) for r in requirements)
    assert LabelSelector(requirements).matches(labels) is wanted


@given(st.text(alphabet=" ,=!()<>abin\0\\é", max_size=12))
def test_any_text_is_a_selector_or_a_400(text: str) -> None:
    try:
        selector = LabelSelector.parse(text)
    except StatusError as error:
        assert error.code == 400
    else:
        assert LabelSelector.parse(str(selector)) == LabelSelector(
            sorted(selector.requirements, key=lambda r: r.key)
        )


KEYS, VALUES = st.sampled_from("abcd"), st.sampled_from(["", "x", "y", "1", "5", "9"])
REQUIREMENTS = st.one_of(
    st.builds(Requirement, KEYS, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
    st.builds(
        lambda key, operator, value: Requirement(key, operator, (value,)),
        KEYS,
        st.sampled_from([Operator.EQUALS, Operator.NOT_EQUALS]),
        VALUES,
    ),
    st.builds(
        lambda key, operator, values: Requirement(key, operator, tuple(sorted(values))),
        KEYS,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.sets(VALUES, min_size=1),
    ),
    st.builds(
        lambda key, operator, value: Requirement(key, operator, (value,)),
        KEYS,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        st.sampled_from(["1", "5"]),
    ),
)


@given(st.lists(REQUIREMENTS, max_size=8), st.dictionaries(KEYS, VALUES))
def test_many_requirements_say_the_same_as_each_of_them(
    requirements: list[Requirement], labels: dict[str, str]
) -> None:
    repeated = requirements * 17  # no longer few
    assert all_of(repeated)(labels) is all(each.test()(labels) for each in requirements)


@pytest.mark.parametrize(
    "text", ["!k{}", "k{}!=v", "k!=v{}", "k notin (v{})", "k{}", "k{}=v", "k>{}", "k{} in (v)"]
)
def test_thousands_of_requirements_are_tested_in_few_steps(text: str) -> None:
    selector = LabelSelector.parse(",".join(text.format(number) for number in range(2000)))
    assert steps(selector.matches, {"a": "b", "k": "w", "k1": "v"}) <= 50
