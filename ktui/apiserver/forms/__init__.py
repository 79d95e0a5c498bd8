"""The forms in which objects are sent: complete, as metadata only, as a Table."""
