"""Is A really better than B? The right test for every design, with its effect, its interval and its reasons."""

__all__: list[str] = []
