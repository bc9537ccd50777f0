"""BibTeX of the papers that results refer to."""

from .citing import cite, keys_of, references_of

__all__ = ["cite", "keys_of", "references_of"]
