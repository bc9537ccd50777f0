"""Parts of docstrings that the spaces share."""

TEXTS = {
    "X": """X : pandas or polars DataFrame, or array of numbers of shape (n_samples, n_features)
    The features. Only the columns, the number of rows and whether values are missing are looked at.""",
    "y": """y : array-like or None
    The labels. Only the number of classes, and of members of the smallest one, is looked at. None takes both for enough.""",
    "kinds": """kinds : mapping of str to {"number", "category", "boolean", "date", "text"}, optional
    What each column holds. By default its type tells: text is a category.""",
    "configs": "\nReturns\n-------\nConfigs\n    The configurations by name.\n\nExamples\n--------\n>>> import numpy as np",
}
