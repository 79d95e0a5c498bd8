"""What opens over a screen and is left by escape; each loaded when it is first asked for."""
