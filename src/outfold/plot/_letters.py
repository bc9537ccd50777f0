"""Letters of all scripts in pictures: the fonts of this computer that have them, and a box where none does."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.text import Text

BOX = "\N{WHITE SQUARE}"
# Fonts of systems and distributions with the letters that matplotlib's own lack; asked in this order, where they are there.
_FALLBACK = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans CJK KR",
    "Noto Sans JP",
    "Noto Sans SC",
    "Noto Sans KR",
    "Source Han Sans",
    "Hiragino Sans",
    "PingFang SC",
    "Heiti TC",
    "Apple SD Gothic Neo",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "IPAexGothic",
    "IPAGothic",
    "Arial Unicode MS",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Segoe UI",
    "Segoe UI Symbol",
    "Unifont",
)


def drawable(text: str) -> str:
    """The text with a box for every letter that no font has: what would be drawn anyway, without a warning for each."""
    if text.isascii():
        return text
    known = _letters(_families())
    return "".join(c if c.isspace() or ord(c) in known else BOX for c in text)


def dress(text: Text) -> None:
    """Let a text fall back on the fonts that have its letters."""
    if not text.get_text().isascii():
        text.set_fontfamily(list(_families()))


def _families() -> tuple[str, ...]:
    """The user's fonts, then those that have more letters."""
    import matplotlib as mpl

    own = mpl.rcParams["font.family"]
    return (*([own] if isinstance(own, str) else own), *_installed())


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in _FALLBACK if name in there)


@lru_cache(maxsize=8)
def _letters(families: tuple[str, ...]) -> frozenset[int]:
    """Code points that one of the fonts has."""
    from matplotlib import font_manager

    out: set[int] = set()
    for family in families:
        path = font_manager.findfont(font_manager.FontProperties(family=[family]))
        out.update(font_manager.get_font(path).get_charmap())
    return frozenset(out)
