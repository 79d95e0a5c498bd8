"""The screens of `ktui audit`."""
