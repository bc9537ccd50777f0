"""Fits shared between configurations: what several of them have in common is computed once."""

from .family import Family, Level, Unsuitable, View, check_family, family_of, known_families, register_family

__all__ = [
    "Family",
    "Level",
    "Unsuitable",
    "View",
    "check_family",
    "family_of",
    "known_families",
    "register_family",
]
