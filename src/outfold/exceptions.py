"""Everything that can go wrong, as one tree.

::

    OutfoldError
    ├── InputError (ValueError)     an argument, a label or a prediction that cannot be used
    │   └── NeedError               the method needs another plan, response, block or more cells
    ├── FileError (OSError)         an .oof, .csv or .parquet file that cannot be read or written
    │   └── StoreMismatchError      the store belongs to other data, labels, plan or configurations
    └── CollectError (RuntimeError) no configuration could be fitted, or one that had to be
"""


class OutfoldError(Exception):
    """The root of all errors raised on purpose by this package."""


class InputError(OutfoldError, ValueError):
    """An argument, a label or a prediction that cannot be used as given."""


class NeedError(InputError):
    """A method was asked of predictions that lack what the method needs."""


class FileError(OutfoldError, OSError):
    """A file that cannot be read or written."""


class StoreMismatchError(FileError):
    """The store was filled from other data, labels, plan or configurations."""


class CollectError(OutfoldError, RuntimeError):
    """No configuration could be fitted, or one could not that had to be."""
