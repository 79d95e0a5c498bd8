"""The request chain of a server (authentication, authorization, their API handlers), and its controllers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ktui.apiserver.app import Application
from ktui.apiserver.chain import Authorizer
from ktui.apiserver.dispatch import Handlers
from ktui.authn import service_accounts
from ktui.authn.authenticator import TokenAuthenticator
from ktui.authn.service_accounts import ServiceAccountTokens, TokenSettings
from ktui.authn.token_reviews import AuthenticationReviews
from ktui.authz import access_reviews
from ktui.authz.aggregation import RoleAggregation
from ktui.authz.authorizers import AlwaysAllow, RbacAuthorizer
from ktui.authz.roles import Roles, create_default_roles
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.flowcontrol.controller import PriorityAndFairness
from ktui.flowcontrol.level_events import FlowReporter, pages
from ktui.flowcontrol.levels import ADJUSTMENT_SECONDS
from ktui.flowcontrol.stored import StoredFlowConfig
from ktui.kube.users import Requester
from ktui.supervision import stop
from ktui.telemetry.bus import Bus
from ktui.writes.accounts_controller import AccountsController
from ktui.writes.definitions_controller import DefinitionController
from ktui.writes.deletion_controllers import DependentsController, NamespaceController, StorageProtection
from ktui.writes.quota_controller import QuotaController
from ktui.writes.server_controller import ServerController

log = logging.getLogger(__name__)

ALWAYS_ALLOW, RBAC = ("AlwaysAllow", "RBAC")
SYNC_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RequestChain:
    """Authenticator and authorizer of a server. `roles` and `aggregation` are None without RBAC."""

    authenticator: TokenAuthenticator
    authorizer: Authorizer
    roles: Roles | None
    aggregation: RoleAggregation | None = None

    @property
    def handlers(self) -> Handlers:
        about_users = AuthenticationReviews(self.authenticator)
        return Handlers(
            pages=service_accounts.pages(self.authenticator.accounts),
            subresources={"token": {"POST": about_users.new_token}},
            reviews={
                "selfsubjectreviews.authentication.k8s.io": about_users.of_myself,
                "tokenreviews.authentication.k8s.io": about_users.of_token,
                "selfsubjectaccessreviews.authorization.k8s.io": access_reviews.of_myself,
                "subjectaccessreviews.authorization.k8s.io": access_reviews.of_anyone,
                "localsubjectaccessreviews.authorization.k8s.io": access_reviews.of_anyone,
                "selfsubjectrulesreviews.authorization.k8s.io": access_reviews.my_rules,
            },
        )

    async def start(self, *, writable: bool) -> None:
        """With RBAC, create the default roles if `writable`, and wait until all roles are read.

        Each step waits at most SYNC_SECONDS.
        """
        if self.roles is None or self.aggregation is None:
            return
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                if writable:
                    await create_default_roles(self.roles.registry)
        except (TimeoutError, ExceptionGroup) as error:
            log.warning("the default roles could not be created: %s", error)
        self.roles.start()
        if writable:
            self.aggregation.start()
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                await self.roles.synced.wait()
        except TimeoutError:
            log.warning("roles are still being read: until then only system:masters may do anything")

    async def stop(self) -> None:
        if self.roles is not None and self.aggregation is not None:
            await self.aggregation.stop()
            await self.roles.stop()


def make_chain(
    registry: Registry, token: str | None, users: Mapping[str, Requester], *, mode: str,
    tokens: TokenSettings | None,
) -> RequestChain:  # fmt: skip
    """`tokens` None: tokens of service accounts are signed by a new key of this process."""
    authenticator = TokenAuthenticator(token, ServiceAccountTokens(registry, tokens), users)
    if mode == RBAC:
        roles = Roles(registry)
        return RequestChain(authenticator, RbacAuthorizer(roles), roles, RoleAggregation(registry))
    return RequestChain(authenticator, AlwaysAllow(), None)


def make_controllers(app: Application, *, owned: bool, root_ca: str) -> list[ServerController]:
    """Return the server's controllers: kube-apiserver's own, and those that kubectl waits for.

    The latter are kube-controller-manager's: they run only if ktui has started the etcd (`owned`), as another
    etcd has a kube-controller-manager. It must be writable. `root_ca`: of this server, PEM; "" without TLS.
    """
    registry = app.server.services.registry
    controllers: list[ServerController] = [DefinitionController(registry)]
    if owned:
        controllers += [
            QuotaController(registry, lambda: app.catalog.table.preferred()),
            AccountsController(registry, root_ca),
            NamespaceController(app.server),
            DependentsController(app.server),
            StorageProtection(registry),
        ]
    return controllers


class ServerFlow:
    """Flow control by the stored FlowSchemas and PriorityLevelConfigurations (`follows`), or the defaults."""

    def __init__(
        self, registry: Registry, settings: Settings, bus: Bus, reads: int, writes: int, *, follows: bool
    ) -> None:
        self._registry = registry
        self._settings = settings
        self.controller = PriorityAndFairness(reads, writes)
        self.stored = StoredFlowConfig(registry, settings, self.controller) if follows else None
        self._reporter = FlowReporter(bus, settings, self.controller, self._present)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def handlers(self) -> Handlers:
        return Handlers(pages=pages(self.controller, self._settings, time.monotonic))

    async def start(self, *, writable: bool) -> None:
        """Create default objects if `writable`, and wait SYNC_SECONDS at most until stored ones are read."""
        start = self._registry.supervisor.start
        self._tasks.append(start("the report of flow control", self._reporter.run))
        self._tasks.append(start("the adjustment of priority levels", self._adjust))
        if self.stored is None:
            return
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                if writable:
                    await self.stored.ensure()
                self.stored.start(writable=writable)
                await self.stored.synced.wait()
        except TimeoutError:
            log.warning("flow schemas are still being read: until then kube-apiserver's own are in force")
        except ExceptionGroup as error:
            log.warning("flow schemas could not be created: %s", error.exceptions[0])
            self.stored.start(writable=False)

    async def stop(self) -> None:
        await stop(*self._tasks)
        self._tasks.clear()
        if self.stored is not None:
            await self.stored.stop()

    def _present(self) -> tuple[list[Any], list[Any]]:
        return self.stored.stored if self.stored is not None else ([], [])

    async def _adjust(self) -> None:
        while True:
            await asyncio.sleep(ADJUSTMENT_SECONDS)
            self.controller.levels.adjust()
