"""Mode 1: the loop at a glance."""
