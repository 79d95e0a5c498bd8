"""Mode 4: what etcd holds."""

from ktui.tui.screens.etcd.screen import EtcdScreen

__all__ = ["EtcdScreen"]
