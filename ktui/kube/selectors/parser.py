"""The grammar of label selectors, with kube-apiserver's error texts.

selector    = [ requirement { "," requirement } ]
requirement = [ "!" ] key | key operator
operator    = ( "=" | "==" | "!=" ) [ value ] | ( ">" | "<" ) integer | ( "in" | "notin" ) values
values      = "(" [ value ] { "," [ value ] } ")"
"""

from __future__ import annotations

from ktui.kube.fielderrors import aggregate
from ktui.kube.selectors.lexer import Kind, Token, tokens
from ktui.kube.selectors.requirements import Operator, Requirement, key_errors, requirement_errors

_BINARY = {
    Kind.IN: Operator.IN,
    Kind.NOT_IN: Operator.NOT_IN,
    Kind.EQUALS: Operator.EQUALS,
    Kind.DOUBLE_EQUALS: Operator.EQUALS,
    Kind.NOT_EQUALS: Operator.NOT_EQUALS,
    Kind.GREATER: Operator.GREATER_THAN,
    Kind.LESS: Operator.LESS_THAN,
}
# Upstream lists the names of its operators, not what one types: `gt` stands for `>`.
_EXPECTED_OPERATORS = "in, notin, =, ==, !=, gt, lt"


class SelectorError(ValueError):
    """str() is upstream's text."""


def parse_requirements(selector: str) -> tuple[Requirement, ...]:
    """The requirements in the order written. Raises SelectorError."""
    return _Parser(tokens(selector)).selector()


class _Parser:
    def __init__(self, scanned: list[Token]) -> None:
        self._tokens = scanned
        self._at = 0

    def _peek(self) -> Token:
        """The next token; `in` and `notin` are names like any other where one is expected."""
        token = self._tokens[min(self._at, len(self._tokens) - 1)]
        return Token(Kind.IDENTIFIER, token.text) if token.kind in (Kind.IN, Kind.NOT_IN) else token

    def _take(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _take_operator(self) -> Token:
        self._at += 1
        return self._tokens[min(self._at, len(self._tokens)) - 1]

    def selector(self) -> tuple[Requirement, ...]:
        found: list[Requirement] = []
        while (token := self._peek()).kind is not Kind.END:
            if token.kind not in (Kind.IDENTIFIER, Kind.NOT):
                raise SelectorError(f"found '{token.text}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            if self._separator_was_last():
                break
        return tuple(found)

    def _separator_was_last(self) -> bool:
        token = self._take()
        if token.kind is Kind.END:
            return True
        if token.kind is not Kind.COMMA:
            raise SelectorError(f"found '{token.text}', expected: ',' or 'end of string'")
        following = self._peek()
        if following.kind not in (Kind.IDENTIFIER, Kind.NOT):
            raise SelectorError(f"found '{following.text}', expected: identifier after ','")
        return False

    def _requirement(self) -> Requirement:
        negated = self._peek().kind is Kind.NOT
        if negated:
            self._take()
        key = self._key()
        if negated:
            return Requirement(key, Operator.DOES_NOT_EXIST)
        if self._peek().kind in (Kind.END, Kind.COMMA):
            return Requirement(key, Operator.EXISTS)
        operator = self._operator()
        several = operator in (Operator.IN, Operator.NOT_IN)
        values = self._values() if several else {self._value()}
        requirement = Requirement(key, operator, tuple(sorted(values)))
        if errors := requirement_errors(requirement):
            raise SelectorError(aggregate(errors))
        return requirement

    def _key(self) -> str:
        token = self._take()
        if token.kind is not Kind.IDENTIFIER:
            raise SelectorError(f"found '{token.text}', expected: identifier")
        if errors := key_errors(token.text):
            raise SelectorError(aggregate(errors))
        return token.text

    def _operator(self) -> Operator:
        token = self._take_operator()
        if token.kind not in _BINARY:
            raise SelectorError(f"found '{token.text}', expected: {_EXPECTED_OPERATORS}")
        return _BINARY[token.kind]

    def _value(self) -> str:
        """The value of a comparison; nothing at all is the empty value."""
        if self._peek().kind in (Kind.END, Kind.COMMA):
            return ""
        token = self._take()
        if token.kind is not Kind.IDENTIFIER:
            raise SelectorError(f"found '{token.text}', expected: identifier")
        return token.text

    def _values(self) -> set[str]:
        token = self._take()
        if token.kind is not Kind.OPEN:
            raise SelectorError(f"found '{token.text}' expected: '('")
        first = self._peek()
        if first.kind is Kind.CLOSE:
            self._take()
            return {""}
        if first.kind not in (Kind.IDENTIFIER, Kind.COMMA):
            raise SelectorError(f"found '{first.text}', expected: ',', ')' or identifier")
        values = self._value_list()
        if self._take().kind is not Kind.CLOSE:
            raise SelectorError(f"found '{first.text}', expected: ')'")
        return values

    def _value_list(self) -> set[str]:
        """Values up to the closing parenthesis; nothing between two commas is the empty value."""
        values: set[str] = set()
        while True:
            token = self._take()
            following = self._peek()
            if token.kind is Kind.IDENTIFIER:
                values.add(token.text)
                if following.kind is Kind.CLOSE:
                    return values
                if following.kind is not Kind.COMMA:
                    raise SelectorError(f"found '{following.text}', expected: ',' or ')'")
            elif token.kind is Kind.COMMA:
                if not values:
                    values.add("")
                if following.kind is Kind.CLOSE:
                    values.add("")
                    return values
                if following.kind is Kind.COMMA:
                    self._take()
                    values.add("")
            else:
                raise SelectorError(f"found '{token.text}', expected: ',', or identifier")
