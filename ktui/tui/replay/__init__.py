"""A replay on screen: the scrub bar, its keys, and the recording being made."""
