"""Recordings on disk: write them, read them line by line, and find the moments to mark."""
