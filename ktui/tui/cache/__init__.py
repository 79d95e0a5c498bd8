"""Screen 3: the watch caches."""
