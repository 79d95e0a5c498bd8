"""What all screens share: base classes and the mixins that they are made of."""
