"""What a terminal is told, and how: colour, width, progress.

Results go to standard output; everything here goes to standard error, and
progress only where that is a terminal.
"""
import os
import shutil
import sys

COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32",
           "yellow": "33"}


def is_terminal(stream):
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        return False


def has_colour(stream, choice="auto"):
    """Whether to colour, by --color, NO_COLOR, FORCE_COLOR, the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream)


def paint(text, style, stream, choice="auto"):
    if not has_colour(stream, choice):
        return text
    return f"\x1b[{COLOURS[style]}m{text}\x1b[0m"


class Progress:
    """One line that is rewritten; nothing where stderr is no terminal."""

    def __init__(self, quiet=False):
        self.on = not quiet and is_terminal(sys.stderr)
        self.shown = False

    def show(self, text):
        if self.on:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\x1b[K" + text[:width])
            sys.stderr.flush()
            self.shown = True

    def clear(self):
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self.shown = False
