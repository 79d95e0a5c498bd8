"""Replay of a recording: an index of the file, states along it, and a player."""
