"""The commands that can be typed after `:` or chosen in the palette."""
