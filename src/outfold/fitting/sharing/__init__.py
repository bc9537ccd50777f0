"""Fits shared between configurations: what several of them have in common is computed once."""

from .families import family_of as family_of
from .families import known_families as known_families
from .families import register_family
from .family import Family, Unsuitable, View, check_family

__all__ = ["Family", "Unsuitable", "View", "check_family", "register_family"]
