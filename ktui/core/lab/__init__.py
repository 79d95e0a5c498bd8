"""The Lab: what is composed, foreseen, fired and measured."""
