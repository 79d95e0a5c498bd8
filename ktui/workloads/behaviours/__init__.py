"""Client behaviours: each a small program that speaks HTTP as that client would."""
