"""Tables of samples: reading them from files of any dialect, and deciding what each column is used for."""

from .columns import Column, Columns, Kind, Role, features, inspect
from .dialect import Dialect, detect
from .reading import TableFile, read_file

__all__ = ["Column", "Columns", "Dialect", "Kind", "Role", "TableFile", "detect", "features", "inspect", "read_file"]
