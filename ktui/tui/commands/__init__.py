"""The commands that can be typed after `:` or chosen in the palette."""

from ktui.tui.commands.all_commands import COMMANDS, Commands, KtuiCommands

__all__ = ["COMMANDS", "Commands", "KtuiCommands"]
