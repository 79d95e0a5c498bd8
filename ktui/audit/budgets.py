"""Judge the requests of logs by budgets. Where no log proves a route, it is predicted."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from ktui.audit.predictions import AggregatedGroups, assume_ready
from ktui.audit.request_list import ListedRequest, RequestList
from ktui.audit.tally import TallyOptions
from ktui.core.budgets.judge import BudgetJudge
from ktui.core.budgets.requests import JudgedRequest, client_name, resource_of
from ktui.core.ranking.shape import LONGEST_URI, canonical
from ktui.kube.requestinfo import split_url
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import Behaviour

_READS = ("get", "list", "watch")


class BudgetedLogs:
    """Gives a judge the requests of logs. `requests` reads the records."""

    def __init__(
        self,
        judge: BudgetJudge,
        options: TallyOptions,
        behaviour: Behaviour,
        aggregated: AggregatedGroups,
        *,
        progress: bool,
    ) -> None:
        self.requests = RequestList(options, self._take)
        self._judge = judge
        self._aggregated = aggregated

        @lru_cache(maxsize=4096)
        def route(uri: str) -> str:
            try:
                request, state = assume_ready(uri, progress=progress)
            except RequestError:
                return ""
            plan = predict(request, state, behaviour)
            return plan.source.route if plan.error is None else "none"

        self._route = route

    def _take(self, listed: ListedRequest) -> None:
        path, _ = split_url(listed.path)
        resource = resource_of(path)
        if not resource:
            return
        route = listed.route or self._predicted(listed, resource)
        whole = listed.verb != "watch"  # of a WATCH the logs have no initial events
        self._judge.add(
            JudgedRequest(
                at=datetime.fromisoformat(listed.time).timestamp(),
                client=client_name(listed.user_agent),
                verb=listed.verb,
                resource=resource,
                target=listed.path,
                route=route,
                objects=listed.returned if whole else None,
                scanned=listed.scanned if whole else None,
                bytes=listed.bytes if whole else None,
                ms=(listed.ms or 0.0) if whole else 0.0,
                predicted=bool(route and not listed.route),
            )
        )

    def _predicted(self, listed: ListedRequest, resource: str) -> str:
        """Return the predicted route of a read; "" if it cannot be predicted."""
        if listed.verb not in _READS:
            return "etcd"
        if self.requests.queryless or len(listed.path) > LONGEST_URI or self._aggregated.has(resource):
            return ""
        return self._route(canonical(listed.path))
