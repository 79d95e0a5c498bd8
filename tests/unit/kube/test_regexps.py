"""Patterns from outside: linear time, Go's syntax and Go's errors."""

from __future__ import annotations

import pytest

from ktui.core.table.filter import FilterError, anywhere, terms_of
from ktui.kube.golang.regexps import (
    LARGE_CACHED,
    InvalidPattern,
    TextTooLong,
    _large,
    matcher,
)
from ktui.kube.structural.schema import Schema, may_be_slow
from ktui.writes.validation.custom_resources import validate
from ktui.writes.validation.definitions import definition_errors


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_a_pattern_that_backtracks_for_ever_is_matched_at_once(pattern: str) -> None:
    assert not matcher(pattern)("a" * 10_000 + "!")


def test_custom_resource_and_filter_use_it() -> None:
    schema: Schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}}
    (error,) = validate({"s": "a" * 60 + "!"}, schema)
    assert error.message.endswith("!\": s in body should match '^(a+)+$'")
    assert not list(validate({"s": "a" * 60}, schema))
    (term,) = terms_of("~/^(a+)+$/")
    test = anywhere(term, [str])
    assert test("A" * 60)
    assert not test("a" * 60 + "!")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("+", "missing argument to repetition operator: `+`"),
        ("(a", "missing closing ): `(a`"),
        ("a)", "unexpected ): `a)`"),
        ("[a", "missing closing ]: `[a`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(a)\\1", "invalid escape sequence: `\\1`"),
        ("\\Z", "invalid escape sequence: `\\Z`"),
        ("\\é", "invalid escape sequence: `\\é`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("(?P<a-b>c)", "invalid named capture: `(?P<a-b>`"),
        # What only RE2 accepts:
        ("a\\C", "invalid escape sequence: `\\C`"),
        ("(?<é>a)", "invalid named capture: `(?<é>`"),
    ],
)
def test_invalid_patterns_have_gos_errors(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidPattern) as raised:
        matcher(pattern)
    assert str(raised.value) == f"error parsing regexp: {reason}"


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^[a-z]+$", "abc\n", False),  # Python's $ also matches before a last newline
        ("^.$", "é", True),
        ("^.$", "\ud800", True),  # decoded as U+FFFD, as in Go
        ("\\Q\\C\\E", "\\C", True),
        ("(?i)ABC", "xabcx", True),
        ("^\\d{1,3}(ms|s)$", "300ms", True),
        ("(?P<n>a)(?<m>b)", "ab", True),
        ("^\\pL+$", "Ünïcode", True),
    ],
)
def test_syntax_and_text_are_gos(pattern: str, text: str, *, matches: bool) -> None:
    assert matcher(pattern)(text) is matches


def test_program_and_work_are_bounded() -> None:
    with pytest.raises(InvalidPattern, match="expression too large"):
        matcher("\\p{L}{1000}")
    large = matcher("[ab]*a.{900}c$")  # its automaton has 2^900 states
    assert not large("ab" * 100)
    with pytest.raises(TextTooLong):
        large("ab" * 1_000_000)
    for number in range(LARGE_CACHED + 5):
        matcher(f"x{number}.{{900}}c$")
    assert _large.cache_info().currsize <= LARGE_CACHED
    assert may_be_slow({"v1": {"items": [{"pattern": "a{900}"}]}})
    assert not may_be_slow({"v1": {"items": [{"pattern": "^[a-z]{1,9}$"}]}})


def test_filter_shows_why_a_pattern_is_invalid() -> None:
    (term,) = terms_of("~/(a/")
    with pytest.raises(FilterError, match="is not a regular expression: missing closing"):
        anywhere(term, [str])


def _definition(*schemas: Schema) -> dict[str, object]:
    versions = [
        {"name": f"v{at}", "served": True, "storage": not at, "schema": {"openAPIV3Schema": schema}}
        for at, schema in enumerate(schemas, 0)
    ]
    names = {"plural": "evils", "singular": "evil", "kind": "Evil", "listKind": "EvilList"}
    spec = {"group": "redos.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "evils.redos.com"}, "spec": spec}


def _texts(part: Schema) -> Schema:
    return {"type": "object", "properties": {"x": {"type": "string", **part}}}


def test_invalid_pattern_is_refused_with_the_definition() -> None:
    why = 'Invalid value: "+": must be a valid regular expression, but isn\'t: error parsing regexp: '
    why += "missing argument to repetition operator: `+`"
    (error,) = definition_errors(_definition(_texts({"pattern": "+"})))
    assert str(error) == f"spec.validation.openAPIV3Schema.properties[x].pattern: {why}"
    (error,) = definition_errors(_definition(_texts({"pattern": "+"}), _texts({})))
    assert str(error) == f"spec.versions[0].schema.openAPIV3Schema.properties[x].pattern: {why}"
    (error,) = definition_errors(_definition(_texts({"allOf": [{"not": {"pattern": "+"}}]})))
    assert str(error) == f"spec.validation.openAPIV3Schema.properties[x].allOf[0].not.pattern: {why}"
    assert not definition_errors(_definition(_texts({"pattern": "^(a+)+$"})))
