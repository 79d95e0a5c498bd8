"""Replays and recordings: the scrub bar, its keys, and the recording in progress."""
