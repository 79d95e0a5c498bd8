"""Recordings on disk: written, read line by line, and the moments in them that get a marker."""
