"""Apps run here, too."""

from tests.tui.own_loop import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
