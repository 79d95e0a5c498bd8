"""The Lab: what is composed, predicted, fired and measured."""
