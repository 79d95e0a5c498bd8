"""Pages of metrics that something is wrong with, and what is to be said of each."""

from __future__ import annotations

from tests.unit.live.recorded import FIRST, Answer, metrics

PAGE = metrics(0, FIRST)
TEXT = "text/plain"
HALF = PAGE[: PAGE.index(b"\n", 9000) + 1]
# Each by what the server answers, and a part of the sentence.
UNUSABLE: dict[str, tuple[Answer, str]] = {
    "html": ((200, "text/html", b"<html>log in</html>"), "not Prometheus metrics: it begins with '<html>log"),
    "half a line": ((200, TEXT, PAGE[: len(PAGE) // 2]), "the page is cut off after"),
    "half a page": ((200, TEXT, HALF), "the page is incomplete"),
    "500": ((500, TEXT, b"boom"), "/metrics: 500: boom"),
    "401": ((401, "application/json", b"{}"), "does not accept the credentials of context 'recorded'"),
    "empty": ((200, TEXT, b""), "the answer is empty"),
    "2 MB without a line": ((200, TEXT, b"a" * 2_000_000), "the page is cut off after"),
}
FORBIDDEN: Answer = (403, "application/json", b'{"kind":"Status","message":"may not","code":403}')

_ODD = (
    b'apiserver_cache_list_total{group="",index="",resource="pods"} NaN',
    b'apiserver_cache_list_total{group="",index="",resource="nodes"} +Inf',
    b'apiserver_cache_list_total{group="",index="",resource="' + b"x" * 2_000_000 + b'"} 1',
    b'apiserver_cache_list_total{group="",index="",resource="we\\"ird\\n\x1b[31m"} 7',
)


def odd(page: bytes) -> bytes:
    """`page` with a NaN, an infinity, a line of 2 MB and a label full of escapes; the rest can be used."""
    family = b"# TYPE apiserver_cache_list_total counter\n"
    at = page.index(family) + len(family)
    return page[:at] + b"\n".join(_ODD) + b"\n" + page[at:]
