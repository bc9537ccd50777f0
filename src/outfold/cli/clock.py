"""When the command line was loaded: nearly all that is imported for a command comes after it."""

from time import monotonic

LOADED = monotonic()
