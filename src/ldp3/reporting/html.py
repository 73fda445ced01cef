"""From a template and what goes into it to one HTML page that loads nothing.

Whatever goes in is text: every template escapes it, also where it looks like HTML or like a
template. Only our own scripts go in as they are, and `base.html` names them by their hashes as the
only ones that may run.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ldp3.reporting.charts import COLOURS, DARK

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, context: Mapping[str, Any], scripts: Sequence[str] = ()) -> str:
    """The page; `scripts` are the only ones that it runs."""
    from markupsafe import Markup

    page = _environment().get_template(template)
    return page.render(context, scripts=[Markup(script) for script in scripts])


def script(name: str) -> str:
    """One of our scripts."""
    return files("ldp3.reporting").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ldp3.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sha256"] = lambda text: b64encode(sha256(text.encode()).digest()).decode()
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.globals |= {"light": COLOURS, "dark": DARK}
    return environment
