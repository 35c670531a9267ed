"""What Sphinx is told beside its settings: the API reference out of docstrings, and the guides' links.

A block ```{reference} of names becomes a table of their first sentences and then each in full. Docstrings say
`name : what it is`, where numpydoc has a type, so napoleon would read sentences as types; they are laid out here.
"""

import inspect
import os
import re
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from types import FunctionType

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature
from sphinx.util.nodes import make_refnode

from nbmetrics.labs.toolkit.lab import Lab
from nbmetrics.metrics import Metric

ROOT = Path(__file__).parents[1]
SECTIONS = {"Parameters", "Attributes", "Returns", "Raises", "Warns", "Examples"}
ITEMIZED = {"Parameters", "Attributes"}
ITEM = re.compile(r"(\w[\w*, .]*) : (.*)")
# Vertical bars, of absolute values, would be substitutions; what is code is left alone.
BAR = re.compile(r"(`[^`]*`)|\|")
LINK = re.compile(r"(?<!!)\[([^]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")
# Of the HTML of Sphinx and Furo: focus where code and tables scroll, words for what a tag stands for.
LACKING = {
    "body": {
        "<pre>": '<pre tabindex="0">',
        '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
        '<th class="head"><p></p></th>': "<td></td>",
    },
    "furo_navigation_tree": {'role="heading"': 'role="heading" aria-level="2"'},
}
# A signature of several lines comes as definitions of nothing.
PARAMETERS = re.compile(r'<dl>(\s*<dd><em class="sig-param">.*?)</dl>', re.DOTALL)
MEMBERS = (FunctionType, classmethod, staticmethod, property, cached_property)


def found(name):
    """The object of a name as users write it, such as "fid" or "theory.twin"."""
    module, _, last = f"nbmetrics.{name}".rpartition(".")
    return getattr(import_module(module), last)


def first_sentence(thing):
    """The first paragraph of a docstring, as one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def entries(text):
    """{name: the members to show, or None for all} of a block's lines, `name` or `name: member member`."""
    split = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): rest.split() if colon else None for name, colon, rest in split}


def members(kind):
    """What a class and its ancestors in this package say of themselves; a metric's functions are those of `Metric`."""
    if issubclass(kind, Exception) or (issubclass(kind, Metric) and kind is not Metric):
        return []
    ours = [base for base in kind.__mro__ if base.__module__.startswith("nbmetrics.") and base is not Lab]
    said = {name: value for base in reversed(ours) for name, value in vars(base).items() if name[0] != "_"}
    return [name for name, value in said.items() if isinstance(value, MEMBERS) and inspect.getdoc(value)]


def directive(name, shown):
    """The lines with which autodoc writes of a name, with these members of a class."""
    thing = found(name)
    if inspect.isclass(thing):
        shown = members(thing) if shown is None else shown
        kind = "exception" if issubclass(thing, Exception) else "class"
        return [f".. auto{kind}:: nbmetrics.{name}", *([f"   :members: {', '.join(shown)}"] if shown else []), ""]
    return [f".. autofunction:: nbmetrics.{name}" if callable(thing) else f".. autodata:: nbmetrics.{name}", ""]


class Reference(SphinxDirective):
    """```{reference} with a name a line."""

    has_content = True

    def run(self):
        names = entries("\n".join(self.content))
        lines = ["```{eval-rst}", ".. list-table::", "   :widths: auto", ""]
        for name in names:
            said = escaped(first_sentence(found(name)))
            lines += [f"   * - :py:obj:`{name} <nbmetrics.{name}>`", f"     - {said}"]
        lines.append("")
        for name, shown in names.items():
            lines += directive(name, shown)
        node = nodes.Element()
        self.state.nested_parse(StringList([*lines, "```"], ""), self.content_offset, node)
        return node.children


def escaped(text):
    """A docstring's text as reStructuredText."""
    return BAR.sub(lambda hit: hit[1] or r"\|", text)


def items_of(lines):
    """`name : text` and what is indented below it as a list; other lines as they are."""
    laid, inside = [], False
    for line in lines:
        item = ITEM.fullmatch(line)
        if item:
            laid += ([] if inside else [""]) + [f"* **{item[1]}**: {item[2]}"]
        elif inside and line.startswith("    "):
            laid.append(f"  {line[4:]}")
        else:
            laid += ["", line] if inside and line else [line]
        inside = bool(item) or (inside and line.startswith("    "))
    return laid


def laid_out(lines):
    """A docstring's sections as reStructuredText."""
    sections, title = [("", [])], ""
    for k, line in enumerate(lines):
        following = lines[k + 1] if k + 1 < len(lines) else ""
        if line in SECTIONS and following and set(following) == {"-"}:
            title = line
            sections.append((title, []))
        elif not (title and set(line) == {"-"} and lines[k - 1] == title):
            is_code = line.lstrip().startswith((">>>", "..."))
            sections[-1][1].append(line if is_code else escaped(line))
    text = []
    for name, body in sections:
        text += ([f".. rubric:: {name}", ""] if name else []) + (items_of(body) if name in ITEMIZED else body) + [""]
    return text


def docstring(_app, _what, _name, _thing, _options, lines):
    lines[:] = laid_out(lines)


def signature(_app, what, _name, thing, _options, text, returned):
    """How a class is called; of a widget Sphinx would tell that of its ancestors."""
    plain = stringify_signature(inspect.signature(thing), show_annotation=False) if what == "class" else text
    return plain, returned


def page(app, name, content):
    """A page as the site has it: links hold, CONTRIBUTING.md is in its place, and index.md has a menu of its lists."""
    place = folder = (ROOT / "docs" / name).parent
    if name == "contributing":
        folder, content[0] = ROOT, (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    has_books = app is not None and app.tags.has("notebooks")
    content[0] = LINK.sub(partial(link, folder, place, has_books), content[0])
    if name == "index":
        content[0] += menu(content[0])


def menu(text):
    """A table of contents of each section that lists pages."""
    lines = []
    for section in text.split("\n## ")[1:]:
        listed = re.findall(r"^- \[.*?\]\((.*?)\.md\)", section, re.MULTILINE)
        lines += ["```{toctree}", ":hidden:", f":caption: {section.splitlines()[0]}", "", *listed, "```", ""]
    return "\n" + "\n".join(lines)


def link(folder, place, has_books, hit):
    """A link from a text in `folder` as it is from `place`; its words alone where the site lacks what it leads to.

    Where `has_books`, the notebooks are pages beside docs/.
    """
    target = (folder / hit[2]).resolve()
    target = ROOT / "docs/contributing.md" if target == ROOT / "CONTRIBUTING.md" else target
    if has_books and target.parent == ROOT / "notebooks":
        name = "index" if target.stem == "README" else target.stem
        return f'<a href="{relative(target.with_name(name), place)}.html">{hit[1]}</a>'
    if target.is_dir() or (target.suffix == ".md" and ROOT / "docs" not in target.parents):
        return hit[1]
    return f"[{hit[1]}]({relative(target, place)}{hit[3] or ''})"


def relative(target, place):
    return Path(os.path.relpath(target, place)).as_posix()


def is_within(node, kind):
    """Whether an ancestor of the node is of that kind."""
    return node.parent is not None and (isinstance(node.parent, kind) or is_within(node.parent, kind))


class Names(SphinxPostTransform):
    """`nm.fid(…)` in a text, and `fid` in the reference, lead to what is said of it there."""

    default_priority = 400

    def run(self, **_):
        here, builder = self.env.docname, self.app.builder
        entries = self.env.domains.python_domain.objects
        for node in list(self.document.findall(nodes.literal)):
            text = node.astext()
            full = "nbmetrics." + re.match(r"[\w.]*", text.removeprefix("nm."))[0]
            is_meant = text.startswith("nm.") or here.startswith("api/")
            if is_meant and full in entries and not is_within(node, nodes.reference | nodes.title):
                entry = entries[full]
                node.replace_self(make_refnode(builder, here, entry.docname, entry.node_id, node.deepcopy(), full))


def reachable(_app, _page, _template, context, _tree):
    """What pages lack for those without a pointer or a picture."""
    for part, lacking in LACKING.items():
        for text, whole in lacking.items():
            context[part] = (context.get(part) or "").replace(text, whole)
    context["body"] = PARAMETERS.sub(listed, context["body"])


def listed(hit):
    items = hit[1].replace("<dd>", "<li>").replace("</dd>", "</li>")
    return f'<ul class="sig-params">{items}</ul>'


def setup(app):
    app.add_directive("reference", Reference)
    app.add_post_transform(Names)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
    app.connect("source-read", page)
    app.connect("html-page-context", reachable, priority=900)
    return {"parallel_read_safe": True}
