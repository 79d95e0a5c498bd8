"""A recording played: an index of the file, states along it, and a player."""
