"""Dialogs over a screen, each imported when it first opens; escape closes them."""
