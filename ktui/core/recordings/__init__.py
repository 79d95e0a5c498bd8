"""Recordings on disk: written, read line by line, and the moments in them worth a marker."""
