"""shardSelector: the part of a collection whose hashed uid or namespace lies in given ranges.

kube-apiserver 1.36 and later with the gate ShardedListAndWatch (alpha, off; KEP-5866). The text is an
expression of CEL of which only `shardRange(FIELD, '0x…', '0x…')` and `||` are allowed
(k8s.io/apiserver/pkg/sharding/parser.go). The hash is FNV-1a with 64 bits; a range includes its start and not
its end. Ranges may overlap: an object in any of them is sent once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ktui.kube.golang.formatting import quote
from ktui.kube.status import StatusError, bare_error

UID, NAMESPACE = "object.metadata.uid", "object.metadata.namespace"
FULL = 1 << 64
_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, FULL - 1
_DIGITS, _CALL, _IDENT, _LIST, _LITERAL, _SELECT = 16, 1, 3, 4, 5, 7  # the kinds as CEL numbers them
_MOST_NESTED = 100
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^'\n]*'|\"[^\"\n]*\")|(?P<number>0x[0-9a-fA-F]+u?|\d+(?:\.\d+)?u?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>\|\||&&|==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}]))"
)
_BINARY = ("&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%")


def fnv1a(text: str) -> int:
    """Return the FNV-1a hash (64 bits) of a field's value."""
    value = _OFFSET
    for byte in text.encode():
        value = ((value ^ byte) * _PRIME) & _MASK
    return value


_of_namespace = lru_cache(maxsize=4096)(fnv1a)


@dataclass(frozen=True, slots=True)
class ShardRange:
    """Hashes from `start` up to but not including `end` (at most 2^64)."""

    start: int
    end: int

    def text(self, field: str) -> str:
        """`shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')`."""
        return f"shardRange({field}, '0x{self.start:016x}', '0x{self.end:016x}')"


@dataclass(frozen=True, slots=True)
class ShardSelector:
    """Ranges of the hashes of one field."""

    field: str
    ranges: tuple[ShardRange, ...]

    @classmethod
    def parse(cls, text: str) -> ShardSelector:
        """Return the selector; raise StatusError 500 with upstream's text: its parser's error is no Status.

        The syntax errors of CEL's own parser are worded differently.
        """
        try:
            return _parsed(text.strip())
        except _Refused as error:
            raise refusal(str(error)) from None

    def matches(self, uid: str, namespace: str) -> bool:
        """Whether an object belongs to the shard."""
        value = fnv1a(uid) if self.field == UID else _of_namespace(namespace)
        return any(each.start <= value < each.end for each in self.ranges)

    @property
    def overlaps(self) -> bool:
        """True if a hash lies in more than one range."""
        by_start = sorted(self.ranges, key=lambda one: one.start)
        return any(later.start < one.end for one, later in pairwise(by_start))

    def __str__(self) -> str:
        """The text as `metadata.shardInfo.selector` has it."""
        return " || ".join(each.text(self.field) for each in self.ranges)


def shard(index: int, count: int, field: str = UID) -> ShardSelector:
    """Return the shard `index` (from 0) of `count` equal ones."""
    return ShardSelector(field, (ShardRange(FULL * index // count, FULL * (index + 1) // count),))


def refusal(why: str) -> StatusError:
    """Return the error of an invalid selector: a bare 500, not a 400 (registry/store.go: ListPredicate)."""
    return bare_error(f"invalid shard selector: {why}")


class _Refused(Exception):
    """Why the expression is not a shard selector, in upstream's words."""


def _parsed(text: str) -> ShardSelector:
    if not text:
        raise _Refused("empty shard selector is not allowed; omit the parameter for unfiltered lists")
    tree = _Parser(text).parse()
    found = list(_ranges(tree))
    first = found[0][0]
    for field, _ in found[1:]:
        if field != first:
            raise _Refused(f"all shard ranges must use the same field, got {quote(first)} and {quote(field)}")
    return ShardSelector(first, tuple(each for _, each in found))


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the expression: its kind, and a call's name and arguments, or a literal, or a path."""

    kind: int
    name: str = ""
    args: tuple[_Node, ...] = ()
    literal: str | None = None


class _Parser:
    """Reads as much of CEL as it takes to name what is not allowed."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = self._depth = 0

    def parse(self) -> _Node:
        node = self._or()
        if token := self._peek():
            raise _syntax(token[1])
        return node

    def _or(self) -> _Node:
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise _Refused(f"CEL parse error: expression recursion limit exceeded: {_MOST_NESTED}")
        sides = [self._operand()]
        while self._takes("||"):
            sides.append(self._operand())
        self._depth -= 1
        return sides[0] if len(sides) == 1 else _Node(_CALL, "_||_", tuple(sides))

    def _operand(self) -> _Node:
        sign = ""
        while self._takes("!") or self._takes("-"):
            sign = sign or self._tokens[self._at - 1][1]
        node = self._member()
        if sign:
            node = _Node(_CALL, f"{sign}_", (node,))
        while (token := self._peek()) and token[1] in _BINARY:
            self._at += 1
            node = _Node(_CALL, f"_{token[1]}_", (node, self._member()))
        if self._takes("?"):
            one = self._or()
            self._needs(":")
            node = _Node(_CALL, "_?_:_", (node, one, self._or()))
        return node

    def _member(self) -> _Node:
        node = self._primary()
        while self._takes("."):
            kind, name = self._next()
            if kind != "name":
                raise _syntax(name)
            if self._takes("("):
                node = _Node(_CALL, name, self._arguments(")"))
            else:
                path = f"{node.name}.{name}" if node.kind in (_IDENT, _SELECT) else ""
                node = _Node(_SELECT, path, (node,))
        return node

    def _primary(self) -> _Node:
        kind, text = self._next()
        if kind == "text":
            return _Node(_LITERAL, "string", literal=text[1:-1])
        if kind == "number":
            return _Node(_LITERAL, "float64" if "." in text else "uint64" if text[-1] == "u" else "int64")
        if kind == "name":
            if text in ("true", "false"):
                return _Node(_LITERAL, "bool")
            return _Node(_CALL, text, self._arguments(")")) if self._takes("(") else _Node(_IDENT, text)
        if text == "(":
            node = self._or()
            self._needs(")")
            return node
        if text == "[":
            return _Node(_LIST, args=self._arguments("]"))
        raise _syntax(text)

    def _arguments(self, end: str) -> tuple[_Node, ...]:
        found: list[_Node] = []
        while not self._takes(end):
            if found:
                self._needs(",")
            found.append(self._or())
        return tuple(found)

    def _peek(self) -> tuple[str, str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> tuple[str, str]:
        token = self._peek()
        if token is None:
            raise _syntax("<EOF>")
        self._at += 1
        return token

    def _takes(self, sign: str) -> bool:
        if self._peek() != ("sign", sign):
            return False
        self._at += 1
        return True

    def _needs(self, sign: str) -> None:
        if not self._takes(sign):
            raise _syntax(self._next()[1])


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            rest = text[position:].lstrip()
            raise _Refused(f"CEL parse error: Syntax error: token recognition error at: '{rest[:1]}'")
        position = found.end()
        yield found.lastgroup or "", found[found.lastgroup or 0]


def _syntax(token: str) -> _Refused:
    return _Refused(f"CEL parse error: Syntax error: mismatched input '{token[:60]}'")


def _ranges(node: _Node) -> Iterator[tuple[str, ShardRange]]:
    if node.kind != _CALL:
        raise _Refused(f"unexpected expression kind {node.kind}; expected shardRange() call or || operator")
    if node.name == "_||_":
        for side in node.args:
            yield from _ranges(side)
    elif node.name == "shardRange":
        yield _range(node.args)
    else:
        raise _Refused(f"unsupported function {quote(node.name)}; only shardRange() and || are allowed")


def _range(args: tuple[_Node, ...]) -> tuple[str, ShardRange]:
    if len(args) != 3:
        raise _Refused(f"shardRange() requires exactly 3 arguments, got {len(args)}")
    path, start, end = args
    inner = path
    while inner.kind == _SELECT:
        inner = inner.args[0]
    if inner.kind != _IDENT:
        raise _Refused(
            "shardRange() first argument: expected field path (e.g. object.metadata.uid), "
            f"got expression kind {inner.kind}"
        )
    if path.name not in (UID, NAMESPACE):
        raise _Refused(f"unsupported field path {quote(path.name)}; supported: {UID}, {NAMESPACE}")
    low, high = _bound(start, "hexStart"), _bound(end, "hexEnd")
    if low >= high:
        raise _Refused(f"shard range start {start.literal} must be less than end {end.literal}")
    return path.name, ShardRange(low, high)


def _bound(node: _Node, name: str) -> int:
    if node.kind != _LITERAL:
        raise _Refused(f"{name} must be a string literal (e.g. '0xff'), got expression kind {node.kind}")
    text = node.literal
    if text is None:
        raise _Refused(f"{name} must be a string literal, got {node.name}")
    if not text.startswith("0x"):
        raise _Refused(f"{name} must have '0x' prefix, got {quote(text)}")
    digits = text[2:]
    if not digits:
        raise _Refused(f"{name}: hex value is required after '0x'")
    if len(digits.encode()) > _DIGITS + 1:
        size = len(digits.encode())
        raise _Refused(f"{name}: hex value too long ({size} chars, max 17): {quote(digits)}")
    wrong = next((char for char in digits if char not in "0123456789abcdef"), None)
    if wrong is not None:
        raise _Refused(f"{name}: invalid hex character {quote(wrong)} in {quote(text)}")
    if len(digits) > _DIGITS:
        if int(digits, 16) != FULL:
            raise _Refused(
                f"{name}: 17-digit hex value must be '0x10000000000000000' (2^64), got {quote(text)}"
            )
    elif len(digits) < _DIGITS:
        raise _Refused(
            f"{name} must be a 0x-prefixed 16-digit hex value, got {quote(text)} "
            f"(did you mean {quote('0x' + digits.zfill(_DIGITS))}?)"
        )
    return int(digits, 16)
