"""The text cells of the repository's own notebooks as HTML, with formulas as pictures that need no script.

Nothing of a reader's comes here; what the notebooks say in HTML is kept, and no page of theirs runs a script.
"""

import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

import mistune
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

_CORNER = re.compile(r"<th\b[^>]*>\s*</th>")
_LINK = re.compile(r'<a href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_SOURCE = re.compile(r'\bsrc="([^"]*)"')
_LOCAL = re.compile(r"(?![a-z]+:|#|//)", re.I)
# Of the drawn formula: its size, and how many of these are an em of the text around it.
SIZE, EM = 100, 84
_LETTERS = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}


def html_of(text: str, link: Callable[[str], str | None], picture: Callable[[str], str]) -> str:
    """Return Markdown as HTML; `link` and `picture` say where a relative address leads on the site, or None."""
    html = str(_markdown()(text)).replace("<pre>", '<pre class="code" tabindex="0">')
    html = without_corner(html)
    html = _LINK.sub(lambda match: _link_html(match, link), html)
    return _SOURCE.sub(lambda match: f'src="{picture(match[1])}"' if _LOCAL.match(match[1]) else match[0], html)


def without_corner(html: str) -> str:
    """Return tables whose corner is empty without a header there, which would name nothing."""
    return _CORNER.sub("<td></td>", html)


def _link_html(match: re.Match[str], link: Callable[[str], str | None]) -> str:
    if not _LOCAL.match(match[1]):
        return match[0]
    target = link(match[1])
    return match[2] if target is None else f'<a href="{escape(target)}">{match[2]}</a>'


def _step(code: Any, points: Any) -> str:
    """Return one segment of a path as SVG writes it; the point of a closing one says nothing."""
    letter = _LETTERS[int(code)]
    return letter if letter == "Z" else letter + " ".join(f"{round(n)}" for n in points)


@cache
def _markdown() -> Any:
    to_html = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "math"])
    to_html.renderer.register("inline_math", lambda renderer, text: formula(text))
    to_html.renderer.register("block_math", lambda renderer, text: f'<p class="formula">{formula(text)}</p>\n')
    return to_html


def formula(tex: str) -> str:
    """Return TeX as a picture in the colour of the text, or the TeX itself where it cannot be drawn."""
    tex = " ".join(tex.split())
    try:
        outline = TextPath((0, 0), f"${tex}$", size=SIZE, prop=FontProperties(math_fontfamily="stix"))
    except ValueError:
        return f"<code>{escape(tex)}</code>"
    segments = outline.iter_segments(simplify=False)
    path = "".join(_step(code, points) for points, code in segments)
    box = outline.get_extents()
    x, depth, width, height = box.x0 - 4, -min(box.y0, 0) + 2, box.width + 8, box.y1 - min(box.y0, 0) + 4
    return (
        f'<svg class="tex" role="img" aria-label="{escape(tex)}" viewBox="{x:.0f} {-box.y1 - 2:.0f} {width:.0f} '
        f'{height:.0f}" style="width:{width / EM:.2f}em;height:{height / EM:.2f}em;vertical-align:{-depth / EM:.2f}em">'
        f'<path transform="scale(1 -1)" fill="currentColor" d="{path}"/></svg>'
    )
