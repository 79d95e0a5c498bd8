"""Mode 3: the watch caches."""

from ktui.tui.screens.cache.screen import CacheScreen

__all__ = ["CacheScreen"]
