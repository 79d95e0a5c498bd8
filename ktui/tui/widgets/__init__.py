"""Widgets that several screens share, one in each module."""
