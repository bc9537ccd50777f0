"""How Sphinx builds the site: `make docs`. The pages are plain Markdown, which also reads well without Sphinx."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT / "src"))

import outfold  # noqa: E402

project = "Outfold"
author = "The Outfold developers"
version = release = outfold.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery/*.py", "gallery/*.json", "sg_execution_times.rst", "gallery/sg_*"]
templates_path = ["_templates"]
highlight_language = "none"  # a block without a language is output, or a command
nitpicky = False

# Headings get the anchors that GitHub gives them, so that links work in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "Outfold"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(DOCS / "_templates" / "scorer.js")
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
# Pages with nothing below them would show an empty list.
html_sidebars = {"index": [], "which-method": [], "faq": []}
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "Outfold"},
    "header_links_before_dropdown": 8,
    "navbar_persistent": ["search-button"],
    "navbar_align": "left",
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
copyright = "The Outfold developers, BSD-3-Clause"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\w+\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
}

# Pages below another page. The list is here, because `{toctree}` in the page would be noise for who reads the file.
BELOW = {
    "checks": "checks/*",
    "comparing": "compare/*",
    "errors": "errors/*",
    "methods": "methods/*",
    "ranking": "rank/*",
    "studies/index": "*",
}


def add_pages_below(name: str, text: str) -> str:
    """The pages below this page, for the navigation."""
    if name not in BELOW:
        return text
    return f"{text}\n```{{toctree}}\n:hidden:\n:glob:\n:maxdepth: 1\n\n{BELOW[name]}\n```\n"


def show_root_file(name: str, text: str) -> str:
    """A page of `project` shows a file of the root folder; its links lead to the pages of the site."""
    if not name.startswith("project/") or name == "project/index":
        return text
    text = (ROOT / re.search(r"\]\(\.\./\.\./([\w.]+)\)", text)[1]).read_text()
    text = re.sub(r"\]\(docs/", "](../", text)
    text = re.sub(r"\]\((ARCHITECTURE|CHANGELOG|CONTRIBUTING|SECURITY)\.md", lambda m: f"]({m[1].lower()}.md", text)
    return re.sub(r"\]\(((?:src|tests|studies|benchmarks|tools)/)", r"](../../\1", text)


def link_public_names(name: str, text: str) -> str:
    """In the tables of all public names, each name leads to its page of the reference."""
    if name != "api":
        return text
    pages, (before, *sections) = reference(), re.split(r"^(?=## )", text, flags=re.M)
    return before + "".join(link_section(section, pages) for section in sections)


def link_section(section: str, pages: dict[str, list[str]]) -> str:
    """A section about one module: its names lead to their pages, and names of modules to those of the modules."""
    module = section.partition("\n")[0].removeprefix("## ")

    def link(found: re.Match[str]) -> str:
        if found[1] in pages.get(module, ()):
            return f"| [`{found[1]}`](reference/api/names/{module}.{found[1]}.rst) |"
        if f"{module}.{found[1]}" in pages:
            return f"| [`{found[1]}`](reference/api/{module}.{found[1]}.rst) |"
        return found[0]

    return re.sub(r"^\| `(\w+)` \|", link, section, flags=re.M)


def read_source(app: object, name: str, source: list[str]) -> None:
    """Bring a page into the form of the site: anchors of the glossary, pages below, files of the root folder, links."""
    text = re.sub(r'<a id="([^"]+)"></a>', r"[]{#\1}", source[0])
    source[0] = link_public_names(name, add_pages_below(name, show_root_file(name, text)))


def public_modules() -> list[str]:
    """The modules whose names are listed in the reference."""
    return [name for name in outfold.__all__ if isinstance(getattr(outfold, name), ModuleType)]


def first_paragraph(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().partition("\n\n")[0]


def module_page(name: str, names: list[str]) -> str:
    """The page of a module: what it is for, and a table of its public names with a page for each."""
    lines = [name, "=" * len(name), "", first_paragraph(import_module(name)), "", f".. currentmodule:: {name}", ""]
    lines += [".. autosummary::", "   :toctree: names", "   :nosignatures:", ""]
    return "\n".join([*lines, *(f"   {public}" for public in names), ""])


def reference() -> dict[str, list[str]]:
    """The modules of the reference, each with the names that have a page."""
    modules = public_modules()
    pages = {"outfold": [name for name in outfold.__all__ if name not in modules]}
    return pages | {f"outfold.{name}": list(getattr(outfold, name).__all__) for name in modules}


def write_api() -> None:
    """Write the pages of the reference from `__all__`, so that none is missing and none is left over."""
    folder = DOCS / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    for name, names in reference().items():
        path, text = folder / f"{name}.rst", module_page(name, names)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def skip_member(app: object, what: str, name: str, *rest: object) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, such as `set_fit_request`."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: object) -> None:
    """Called by Sphinx before it looks for pages."""
    write_api()
    app.connect("source-read", read_source)
    app.connect("autodoc-skip-member", skip_member)
