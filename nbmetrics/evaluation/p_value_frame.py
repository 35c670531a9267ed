"""A DataFrame that shows the smallest p-value of a permutation test as the bound it is, "≤ 0.05"; it stays a number."""

from __future__ import annotations

import html
from typing import Any, ClassVar

import pandas as pd

from ..errors import encodable


class PValueFrame(pd.DataFrame):
    """Columns of p-values with floors, 1/(deals + 1).

    Attributes
    ----------
    floors : by column the smallest p-value that its deals can give
    footnote : what is said below the table where a p-value of the first of these columns is that
    """

    _metadata: ClassVar[list[str]] = ["floors", "footnote"]  # pandas hands them on to what is made of a frame
    floors: dict[str, float]
    footnote: str

    @property
    def _constructor(self) -> type[PValueFrame]:
        return PValueFrame

    def _shown(self) -> tuple[Any, str]:
        """Return the frame with its bounds as text, and the line below it."""
        frame, floors = pd.DataFrame(self), getattr(self, "floors", {})
        present = {name: floor for name, floor in floors.items() if name in frame}
        bounds = {name: [_bound(p, floor) for p in frame[name]] for name, floor in present.items()}
        has_least = any(text.startswith("≤") for text in bounds.get(next(iter(floors), ""), ()))
        return frame.assign(**bounds), self.footnote if has_least else ""

    def __repr__(self) -> str:
        frame, footnote = self._shown()
        return encodable("\n".join(filter(None, [repr(frame), footnote])))

    def _repr_html_(self) -> str:
        frame, footnote = self._shown()
        below = f"<p><small>{html.escape(footnote)}</small></p>" if footnote else ""
        return f"{frame._repr_html_()}{below}"


def _bound(p: Any, floor: float) -> str:
    return f"≤ {floor:.2g}" if p <= floor else f"{p:.3g}"
