"""Comparing a watch cache with etcd."""

from __future__ import annotations

from functools import partial

from ktui.client.connection import ClientError
from ktui.core.format import integer
from ktui.kube.resources import Resource
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.lab.aiming import Aiming
from ktui.tui.lab.confirm import ConfirmScreen
from ktui.tui.lab.desk import Desk
from ktui.tui.lab.learning import Known
from ktui.tui.lab.proof import headline, proof_text

# Of an etcd that is not ours so many objects are not read without a question.
MANY_OBJECTS = 5_000


class Proving:
    """`proof` is the last answer in one line, "" before the first."""

    def __init__(self, desk: Desk, known: Known, aiming: Aiming) -> None:
        self.proof = ""
        self._desk = desk
        self._known = known
        self._aiming = aiming

    def prove(self) -> None:
        """Compare the cache of the resource in the form with etcd at the cache's own revision."""
        resource = self._known.table.by_name(self._desk.form().resource)
        if resource is None:
            self._desk.say("name a resource first")
        elif self._aiming.aim is not None:
            self._desk.say("only ktui's own server compares its caches with etcd")
        else:
            self._desk.screen.aside(partial(self._prove, resource), "proof")

    async def _prove(self, resource: Resource) -> None:
        screen = self._desk.screen
        row = screen.ktui.state.caches.get(resource.id)
        objects = row.cache.objects if row is not None else 0
        server = screen.ktui.state.server
        if objects > MANY_OBJECTS and server is not None and server.etcd_kind == "external":
            text = f"This reads {integer(objects)} objects from an etcd that is not ours. Go on?"
            if not await screen.app.push_screen_wait(ConfirmScreen("compare with etcd", text)):
                return
        try:
            answer = await screen.server.check(resource.id)
        except ClientError as error:
            self._desk.fail(str(error))
            return
        self.proof = headline(resource.id, answer)
        self._desk.changed()
        text = proof_text(resource.id, answer)
        screen.app.push_screen(TextScreen(f"{resource.id}, cache and etcd", text))
