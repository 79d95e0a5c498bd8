"""Moves between screens: modes, references to rows, the way back."""
