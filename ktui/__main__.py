"""`python -m ktui` is `ktui`."""

import sys


def main() -> int:
    """Run the command line. Ctrl-C is handled from here on, while the rest is still being imported."""
    try:
        from ktui.cli.main import main as run  # start-up time

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
