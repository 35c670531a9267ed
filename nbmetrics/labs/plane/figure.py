"""What still pictures of the plane share: ellipses of any size, and names that fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import Ellipse, PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Bbox

REACH = 4  # halves of the window: a renderer would dash an outline of a million windows to its end
FINE = 0.02  # of half the window: between the corners of an outline that is cut off


def add_ellipse(ax: Any, center: Any, width: float, height: float, angle: float, **style: Any) -> None:
    """An ellipse of two half-axes, turned by `angle` degrees, about 0 in the window; of a huge one, what is near."""
    half, style = ax.get_xlim()[1], {"facecolor": "none", **style}
    if max(width, height) <= REACH * half:
        ax.add_patch(Ellipse((center[0], center[1]), 2 * width, 2 * height, angle=angle, **style))
        return
    turn = np.radians(angle)
    across = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    ax.add_patch(PathPatch(_near_part(np.asarray(center), np.array([[width], [height]]) * across, half), **style))


def _near_part(center: np.ndarray, axes: np.ndarray, half: float) -> Path:
    """Return an ellipse as a polygon, fine near the window and cut off where none can see it."""
    edge = REACH * half
    turns = np.linspace(0, 2 * np.pi, 361)
    while True:
        points = center + np.column_stack([np.cos(turns), np.sin(turns)]) @ axes
        length = np.linalg.norm(np.diff(points, axis=0), axis=1)
        near = np.abs(points[1:] + points[:-1]).max(axis=1) / 2 < edge + length
        middles = (turns[1:] + turns[:-1])[near & (length > FINE * half)] / 2
        finer = np.union1d(turns, middles)
        if len(finer) == len(turns):
            return Path(points, closed=True).clip_to_bbox(Bbox([[-edge, -edge], [edge, edge]]))
        turns = finer
