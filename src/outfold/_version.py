"""The version, for those who record it without importing the whole package."""

__version__ = "0.1.0"
