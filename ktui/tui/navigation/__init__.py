"""Going from place to place: modes, references, the way back."""
