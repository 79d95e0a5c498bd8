"""Routing rules: where kube-apiserver reads for a LIST, GET or WATCH, and why."""

from ktui.kube.routing.gets import decide_get
from ktui.kube.routing.lists import decide_list
from ktui.kube.routing.watches import decide_watch

__all__ = ["decide_get", "decide_list", "decide_watch"]
