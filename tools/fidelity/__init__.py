"""Replays recorded answers of real kube-apiservers, and counts how many of ktui's agree."""
