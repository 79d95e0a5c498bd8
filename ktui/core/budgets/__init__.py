"""Budgets: how many requests of which kind clients may send, and how large the answers may be."""
