"""What the Lab learns of the server for its form: custom resources and namespaces."""

from __future__ import annotations

from typing import Any

import msgspec

from ktui.client.connection import ClientError
from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, ResourceTable
from ktui.tui.lab.fields import Candidates
from ktui.tui.screens.asking import AskingScreen

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?resourceVersion=0"


class _Definitions(msgspec.Struct):
    """The part of a CustomResourceDefinitionList that is read."""

    items: list[dict[str, Any]] | None = None


class Known:
    """`table` is what can be asked for, `candidates` what completes the form."""

    def __init__(self, screen: AskingScreen) -> None:
        self.table: ResourceTable = BUILTIN
        self.candidates = Candidates()
        self._screen = screen
        self._learnt_from: object = None

    def learn(self) -> None:
        """Custom resources and namespaces, once for each server."""
        client = self._screen.ktui.client
        if client is not None and client is not self._learnt_from:
            self._learnt_from = client
            self._screen.aside(self._learn, "learn")

    async def _learn(self) -> None:
        try:
            definitions = msgspec.convert(await self._screen.ask(CRDS), _Definitions)
            self.table = _with_custom(definitions.items or [])
            page = await self._screen.server.cached_objects("namespaces", limit=500)
            self.candidates.namespaces = [each.name for each in page.objects]
        except (ClientError, msgspec.ValidationError):
            return  # only completions and custom resources are missing: the form says so when one is named


def _with_custom(crds: list[dict[str, Any]]) -> ResourceTable:
    """The built-in resources and those of well-formed CustomResourceDefinitions."""
    custom = []
    for crd in crds:
        try:
            custom += resources_of(crd)
        except (AttributeError, KeyError, TypeError, ValueError):
            continue  # somebody's unfinished definition: kube-apiserver serves nothing for it either
    return BUILTIN.plus(custom)
