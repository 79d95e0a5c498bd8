"""Reads ranked by what they cost the control plane, and what to do about them."""
