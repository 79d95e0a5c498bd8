"""The dashboard's appearance: themes, glyphs, colours."""
