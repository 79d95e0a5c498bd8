"""`python -m ktui` is `ktui`."""

import gc
import sys


def main() -> int:
    """Run the command line. Ctrl-C is handled from here on, while the rest is still being imported."""
    gc.disable()  # what imports make stays alive; `ktui.cli.main` switches it on again
    try:
        from ktui.cli.main import main as run  # start-up time

        return run()
    except KeyboardInterrupt:
        return 130
    finally:
        gc.enable()


if __name__ == "__main__":
    sys.exit(main())
