"""Fits shared between configurations: what several of them have in common is computed once."""

from .family import Family, Unsuitable, View, check_family, register_family
from .family import family_of as family_of
from .family import known_families as known_families

__all__ = ["Family", "Unsuitable", "View", "check_family", "register_family"]
