"""How much a lab shows at once: its visible words and controls, and how high it is."""

from typing import NamedTuple

COUNTS = """([root, height]) => {
  const top = root.getBoundingClientRect().top;
  const isSeen = node => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const isInView = ({ width, height: tall, top: y }) => width > 1 && tall > 1 && (height === null || y - top < height);
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let words = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (text.parentElement.closest('select, textarea, title, style') || !isSeen(text.parentElement)) continue;
    range.selectNodeContents(text);
    if (isInView(range.getBoundingClientRect())) words += text.data.split(/\\s+/).filter(Boolean).length;
  }
  const kinds = 'button, input, select, textarea, summary, a[href], [role=slider], [role=tab], [role=switch]';
  const controls = [...root.querySelectorAll(kinds)].filter(
    node => isSeen(node) && isInView(node.getBoundingClientRect())).length;
  return { words, controls };
}"""


class Counts(NamedTuple):
    words: int
    controls: int


def first_screen_counts(page, root, height=640):
    """Visible words and controls of `root` whose top is within `height` pixels of its own; None counts all of it.

    A word is what stands between white space; a select counts as a control and its options are no words.
    """
    return Counts(**page.evaluate(COUNTS, [root.element_handle(), height]))
