"""`python -m ktui` is `ktui`."""

import sys

from ktui.cli.main import main

sys.exit(main())
