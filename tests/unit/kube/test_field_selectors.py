"""Field selectors: grammar, which fields, matching."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.selectors import FieldSelector, FieldTerm
from ktui.kube.status import StatusError
from tests.unit.growth import steps


def _resource(name: str) -> Resource:
    found = BUILTIN.by_name(name)
    assert found is not None
    return found


def _custom(namespaced: bool) -> Resource:
    meta = ("metadata.name", "metadata.namespace") if namespaced else ("metadata.name",)
    return Resource(
        "e.io",
        "v1",
        "widgets",
        "Widget",
        "widget",
        namespaced,
        field_selectors=(*meta, "spec.color"),
        custom=True,
    )


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        (",,", ()),
        ("=,==,!=", ()),
        ("a=b,=", (FieldTerm("a", "b"),)),
        ("a=b", (FieldTerm("a", "b"),)),
        ("a==b", (FieldTerm("a", "b"),)),
        ("a!=b", (FieldTerm("a", "b", True),)),
        ("a=", (FieldTerm("a", ""),)),
        ("b=2,a=1", (FieldTerm("a", "1"), FieldTerm("b", "2"))),
        ("a=x\\,y", (FieldTerm("a", "x,y"),)),
        ("a=x\\=y\\\\", (FieldTerm("a", "x=y\\"),)),
        (" a = b ", (FieldTerm(" a ", " b "),)),
    ],
)
def test_grammar(text: str, terms: tuple[FieldTerm, ...]) -> None:
    assert FieldSelector.parse(text).terms == terms


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"),
        ("a in (b)", "invalid selector: 'a in (b)'; can't understand 'a in (b)'"),
        ("a=\\x", "invalid field selector: invalid escape sequence: \\x"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(StatusError) as error:
        FieldSelector.parse(text)
    assert (error.value.code, error.value.message) == (400, message)


@pytest.mark.parametrize(
    ("resource", "field", "message"),
    [
        ("pods", "metadata.uid", "field label not supported: metadata.uid"),
        ("nodes", "status.phase", "field label not supported: status.phase"),
        ("namespaces", "spec.x", "field label not supported: spec.x"),
        (
            "configmaps",
            "data.k",
            '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        ("jobs", "status.x", 'field label "status.x" not supported for Job'),
        ("resourceslices", "x", "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x"),
    ],
)
def test_unknown_fields(resource: str, field: str, message: str) -> None:
    with pytest.raises(StatusError) as error:
        FieldSelector.parse(f"{field}=1", _resource(resource))
    assert (error.value.code, error.value.reason, error.value.message) == (400, "BadRequest", message)


def test_custom_resources_know_their_selectable_fields() -> None:
    assert FieldSelector.parse("spec.color=red", _custom(True)).requires("spec.color") == "red"
    FieldSelector.parse("metadata.namespace=a", _custom(True))
    with pytest.raises(StatusError, match=r"^field label not supported: metadata\.namespace$"):
        FieldSelector.parse("metadata.namespace=a", _custom(False))
    with pytest.raises(StatusError, match=r"^field label not supported: spec\.size$"):
        FieldSelector.parse("spec.size=1", _custom(True))


def test_cluster_scoped_kinds_with_the_common_rule_take_a_namespace() -> None:
    assert not FieldSelector.parse("metadata.namespace=a", _resource("persistentvolumes")).empty


def test_pods_still_answer_to_spec_host() -> None:
    selector = FieldSelector.parse("spec.host=n1", _resource("pods"))
    assert selector.requires("spec.nodeName") == "n1"
    assert selector.matches({"spec.nodeName": "n1"})


@pytest.mark.parametrize(
    ("text", "fields", "matches"),
    [
        ("a=1", {"a": "1"}, True),
        ("a=1", {}, False),
        ("a=", {}, True),
        ("a!=", {}, False),
        ("a!=1", {}, True),
        ("a=1,b!=2", {"a": "1", "b": "2"}, False),
        ("a=1,b!=2", {"a": "1", "b": "3"}, True),
        ("", {}, True),
    ],
)
def test_matching(text: str, fields: dict[str, str], matches: bool) -> None:
    assert FieldSelector.parse(text).matches(fields) is matches


def test_requires_takes_the_first_in_sorted_order_and_no_negation() -> None:
    selector = FieldSelector.parse("metadata.name=b,metadata.name=a,x!=1")
    assert selector.requires("metadata.name") == "a"
    assert selector.requires("x") is None
    assert selector.without("metadata.name").terms == (FieldTerm("x", "1", True),)


_VALUES = st.text(alphabet="ab,=\\ é", max_size=6)


@given(
    st.lists(
        st.builds(FieldTerm, st.sampled_from(["a", "metadata.name"]), _VALUES, st.booleans()), max_size=4
    )
)
def test_a_selector_reads_what_it_prints(terms: list[FieldTerm]) -> None:
    parsed = FieldSelector.parse(str(FieldSelector(terms)))
    assert sorted(parsed.terms) == sorted(terms)


@given(st.text(alphabet=",=!\\ab ", max_size=10))
def test_any_text_is_a_selector_or_a_400(text: str) -> None:
    try:
        FieldSelector.parse(text)
    except StatusError as error:
        assert error.code == 400


FIELDS, TEXTS = st.sampled_from(["f", "g"]), st.sampled_from(["", "x", "y"])


@given(
    st.lists(st.builds(FieldTerm, FIELDS, TEXTS, st.booleans()), max_size=4), st.dictionaries(FIELDS, TEXTS)
)
def test_many_terms_say_the_same_as_each_of_them(terms: list[FieldTerm], fields: dict[str, str]) -> None:
    assert FieldSelector(terms * 9).matches(fields) is all(term.test()(fields) for term in terms)


@pytest.mark.parametrize("text", ["metadata.name!=x{}", "metadata.name=x{}"])
def test_thousands_of_terms_are_tested_in_few_steps(text: str) -> None:
    selector = FieldSelector.parse(",".join(text.format(number) for number in range(2000)))
    assert steps(selector.matches, {"metadata.name": "x"}) < 20
