"""How the dashboard looks on the terminal that it finds: themes, glyphs, colours."""
