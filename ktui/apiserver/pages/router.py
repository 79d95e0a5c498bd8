"""Find the page for a path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.kube.status import method_not_allowed

Page = Callable[[Request, Response], Awaitable[None]]


class PageRouter:
    """Finds exact paths first, then patterns with `{}` for one segment."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, ...], dict[str, Page]] = {}

    def add(self, method: str, path: str, page: Page) -> None:
        """Add a page; `method` "*" is for all methods without a page of their own."""
        self._pages.setdefault(_segments(path), {})[method] = page

    def find(self, method: str, path: str) -> Page | None:
        """Return the page, None if there is none; raise StatusError 405 if it does not support the method."""
        methods = self._methods(_segments(path))
        if methods is None:
            return None
        page = methods.get(method) or methods.get("*")
        if page is None:
            raise method_not_allowed()
        return page

    def paths(self) -> list[str]:
        return sorted("/" + "/".join(segments) for segments in self._pages)

    def _methods(self, segments: tuple[str, ...]) -> dict[str, Page] | None:
        if segments in self._pages:
            return self._pages[segments]
        for pattern, methods in self._pages.items():
            if len(pattern) == len(segments) and all(
                wanted in ("{}", found) for wanted, found in zip(pattern, segments, strict=True)
            ):
                return methods
        return None


def _segments(path: str) -> tuple[str, ...]:
    return tuple(path.removeprefix("/").split("/"))
