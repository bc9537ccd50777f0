"""The numbers of every picture, without matplotlib: each is one that a result or a method of the API has."""
