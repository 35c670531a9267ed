"""Pictures of boxes and arrows as SVG text, light and the same bytes on every machine."""

from html import escape
from itertools import pairwise

INK, FAINT, PAPER = "#1f2933", "#8a97a6", "#ffffff"
FONT = "font-family='system-ui, -apple-system, Segoe UI, DejaVu Sans, sans-serif'"
HEAD = (
    "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
    f"<path d='M0 0.5 L8 4 L0 7.5 z' fill='{FAINT}'/></marker></defs>"
)


def page(width, height, title, description, parts):
    """A whole picture; `parts` are lines of SVG, drawn in their order."""
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"role='img' {FONT}>"
    )
    words = [f"<title>{escape(title)}</title>", f"<desc>{escape(description)}</desc>"]
    paper = f"<rect width='{width}' height='{height}' fill='{PAPER}'/>"
    return "\n".join([head, *words, HEAD, paper, *parts, "</svg>"]) + "\n"


def box(x, y, width, height, fill, data=""):
    """A box by its left and upper edge; `data` are further attributes."""
    shape = f"x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' rx='6'"
    return f"<rect {shape} fill='{fill}' stroke='{FAINT}' stroke-width='1' {data}/>"


def text(x, y, words, *, size=13, weight=400, anchor="middle", fill=INK, style="normal"):
    """One line of text, by its baseline."""
    look = f"font-size='{size}' font-weight='{weight}' font-style='{style}' text-anchor='{anchor}' fill='{fill}'"
    return f"<text x='{x:g}' y='{y:g}' {look}>{escape(words)}</text>"


def curve(points, data=""):
    """An arrow through points, upright at each of them where it goes up or down, level where it goes sideways."""
    path = f"M{points[0][0]:g} {points[0][1]:g}"
    for (x, y), (to_x, to_y) in pairwise(points):
        if y == to_y:
            path += f" L{to_x:g} {to_y:g}"
        else:
            middle = (y + to_y) / 2
            path += f" C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y:g}"
    return f"<path d='{path}' fill='none' stroke='{FAINT}' stroke-width='1.3' marker-end='url(#head)' {data}/>"
