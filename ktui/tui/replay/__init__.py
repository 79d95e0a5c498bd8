"""Recordings as the same screens: an index of the file, a player, and what the keys do to it."""
