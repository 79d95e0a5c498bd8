"""Rank reads by what they cost the control plane, and say how to make them cheaper."""
