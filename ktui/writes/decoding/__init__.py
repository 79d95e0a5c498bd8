"""Request bodies decoded into objects of their type: media types, kinds, unknown and duplicate fields."""
