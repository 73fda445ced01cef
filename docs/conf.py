"""How the site is built from these pages: `sphinx-build -W docs site`.

Nothing is loaded from elsewhere: formulas become MathML, fonts are the reader's own, and the search
index lies beside the pages.
"""

import re
import sys
from pathlib import Path

from docutils.nodes import Element, SkipNode, math, math_block
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

import ldp3

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import reference  # noqa: E402  (the page writer beside this file)

log = getLogger(__name__)

project = "LDP³"
author = "The LDP3 developers"
copyright = author
release = version = ldp3.__version__

extensions = ["myst_nb"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["README.md", "site"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "force"  # an error in a notebook is an error of the build
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_render_markdown_format = "myst"  # which has tables
nb_output_stderr = "remove"  # progress is for whoever waits
nitpicky = True

smartquotes = False  # options and specs are to be pasted
html_theme = "furo"
html_title = "LDP³"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
# made by `python -m benchmarks.leaderboard`, and too large for the source package
html_extra_path = [p.name for p in Path(__file__).parent.glob("leaderboard.html")]
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"


def _formula(node: Element, display: str) -> str:
    text = re.sub(r"([A-Za-z])'", r"{\1′}", node.astext())  # as a superscript it is too small
    shown = convert(text, display=display)
    unknown = re.search(r">(\\\w*)", shown)
    if unknown:
        log.warning("%s is not known in the formula %s", unknown[1], node.astext(), location=node)
    return str(shown)


def _inline(writer: HTML5Translator, node: math) -> None:
    writer.body.append(_formula(node, "inline"))
    raise SkipNode  # a formula has no children to visit


def _block(writer: HTML5Translator, node: math_block) -> None:
    writer.body.append(f'<div class="math">{_formula(node, "block")}</div>')
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Formulas as MathML, and reference pages from the docstrings and commands."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("builder-inited", lambda _: reference.write(HERE / "reference"))
