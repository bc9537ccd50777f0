"""Fits shared between configurations: what several of them have in common is computed once."""

from .family import Family, Level, Unsuitable, View
from .proof import check_family
from .registry import as_new, families, family_of, is_builtin, register_family

__all__ = [
    "Family",
    "Level",
    "Unsuitable",
    "View",
    "as_new",
    "check_family",
    "families",
    "family_of",
    "is_builtin",
    "register_family",
]
