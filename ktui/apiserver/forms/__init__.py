"""The forms in which objects are answered: as they are, as metadata only, as a Table."""
