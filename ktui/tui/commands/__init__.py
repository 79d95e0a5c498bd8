"""The commands that can be typed after `:` or chosen in the palette."""

from ktui.tui.commands.command import Candidate, Command, Suggestion
from ktui.tui.commands.table import COMMANDS, Commands, KtuiCommands

__all__ = ["COMMANDS", "Candidate", "Command", "Commands", "KtuiCommands", "Suggestion"]
