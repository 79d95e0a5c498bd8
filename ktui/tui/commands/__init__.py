"""The commands that can be typed after `:` or chosen in the palette."""

from ktui.tui.commands.all_commands import COMMANDS, Commands, KtuiCommands
from ktui.tui.commands.command import Candidate, Command

__all__ = ["COMMANDS", "Candidate", "Command", "Commands", "KtuiCommands"]
