"""Tables of samples: reading them from files of any dialect, and deciding what each column is used for."""

from .canonical import features
from .columns import Column, Columns, Kind, Role
from .dialect import Dialect, detect
from .reading import TableFile, read_file
from .roles import inspect

__all__ = ["Column", "Columns", "Dialect", "Kind", "Role", "TableFile", "detect", "features", "inspect", "read_file"]
