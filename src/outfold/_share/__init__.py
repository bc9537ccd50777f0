"""Fits shared between configurations: what several of them have in common is computed once."""

from .family import Family, Level, Unsuitable, View
from .registry import families, family_of, register_family

__all__ = ["Family", "Level", "Unsuitable", "View", "families", "family_of", "register_family"]
