"""Routing rules: where kube-apiserver reads for a LIST, GET or WATCH, and why."""

from ktui.kube.routing.get_plan import decide_get
from ktui.kube.routing.list_plan import decide_list
from ktui.kube.routing.watch_plan import decide_watch

__all__ = ["decide_get", "decide_list", "decide_watch"]
