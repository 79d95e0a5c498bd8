"""Decode request bodies into objects of their type: media types, kinds, unknown and duplicate fields."""
