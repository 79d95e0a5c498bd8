"""The commands that can be typed after `:` or chosen in the palette."""

from ktui.tui.commands.command import Candidate, Command, Suggestion
from ktui.tui.commands.palette import KtuiCommands
from ktui.tui.commands.table import COMMANDS, Commands

__all__ = ["COMMANDS", "Candidate", "Command", "Commands", "KtuiCommands", "Suggestion"]
