"""Mode 3: the watch caches."""
