"""docs/rooms.svg: the rooms as boxes on floors, each above all that it imports, as wide as its code is long.

An arrow that follows from others (a to b where a leads to c and c to b) is left out. Long arrows pass between the boxes
of the floors in between, which are ordered so that few arrows cross.
"""

import re
from functools import cache
from itertools import pairwise

from tests import rooms, svg

FLOOR, HEIGHT, GAP, LANE, MARGIN = 84, 44, 16, 10, 24
LIVE, ANSWERS, GROUND = "#fdebd3", "#e2efdc", "#dfeaf5"
FILLS = {"labs": LIVE, "scene": LIVE, "evaluation": ANSWERS, "theory": ANSWERS, "experiments": ANSWERS}
SWEEPS = 24


def facts():
    """{room: lines, to two digits} and {room: rooms it imports}, of the package as it is; lists of names left out."""
    lines = {room: int(float(f"{n:.2g}")) for room, n in rooms.lines_by_room().items() if room != "labs"}
    graph = {room: set() for room in lines}
    for (importer, imported), when in rooms.arrows().items():
        a, b = rooms.room_of(importer), rooms.room_of(imported)
        if a != b and when != "never":
            graph[a].add(b)
    return lines, reduced(graph)


def facts_of(picture):
    """The facts that a picture was drawn from."""
    lines = {room: int(n) for room, n in re.findall(r"data-room='(\S+)' data-lines='(\d+)'", picture)}
    graph = {room: set() for room in lines}
    for a, b in re.findall(r"data-from='(\S+)' data-to='(\S+)'", picture):
        graph[a].add(b)
    return lines, graph


def reduced(graph):
    """The graph without the arrows that follow from others."""

    @cache
    def below(room):
        return frozenset().union(*(below(other) | {other} for other in graph[room]))

    return {a: {b for b in others if not any(b in below(c) for c in others)} for a, others in graph.items()}


def floors_of(graph):
    """{room: 0 for the ground, or one floor above the highest room that it imports}."""

    @cache
    def floor(room):
        return 1 + max(map(floor, graph[room]), default=-1)

    return {room: floor(room) for room in graph}


def drawing(lines, graph):
    """The picture as SVG text."""
    floor = floors_of(graph)
    wide = {room: max(7.6 * len(room) + 20, n / 16, 84) for room, n in lines.items()}
    rows, ways = _rows(graph, floor)
    middle = _places(rows, ways, wide)
    width = round(max(middle[n] + _half(n, wide) for row in rows for n in row) + MARGIN)
    height = FLOOR * len(rows) + MARGIN

    def top(node):
        return height - MARGIN - FLOOR * (_floor(node, floor) + 1) + (FLOOR - HEIGHT)

    parts = []
    for way in ways:
        a, *between, b = way
        points = [(middle[a], top(a) + HEIGHT)]
        for lane in between:
            points += [(middle[lane], top(lane)), (middle[lane], top(lane) + HEIGHT)]
        parts.append(svg.curve([*points, (middle[b], top(b))], f"data-from='{a}' data-to='{b}'"))
    for room in lines:
        left, fill = middle[room] - wide[room] / 2, FILLS.get(room.split("/")[0], GROUND)
        data = f"data-room='{room}' data-lines='{lines[room]}'"
        parts.append(svg.box(round(left, 1), top(room), round(wide[room], 1), HEIGHT, fill, data))
        parts.append(svg.text(middle[room], top(room) + 19, room, weight=600))
        parts.append(svg.text(middle[room], top(room) + 35, f"{lines[room]:,} lines", size=11))
    description = "Each room of the package imports only rooms on floors below it. " + " ".join(
        f"{a} imports {', '.join(sorted(b))}." for a, b in graph.items() if b
    )
    return svg.page(width, height, "The rooms of nbmetrics", description, parts)


def _floor(node, floor):
    return node[2] if isinstance(node, tuple) else floor[node]


def _half(node, wide):
    return (LANE if isinstance(node, tuple) else wide[node]) / 2


def _rows(graph, floor):
    """Nodes by floor, rooms and the lanes (a, b, floor) of arrows that pass; and the nodes along each arrow."""
    rows = [[] for _ in range(max(floor.values()) + 1)]
    for room in graph:
        rows[floor[room]].append(room)
    ways = []
    for a in graph:
        for b in sorted(graph[a]):
            lanes = [(a, b, level) for level in range(floor[a] - 1, floor[b], -1)]
            for lane in lanes:
                rows[lane[2]].append(lane)
            ways.append([a, *lanes, b])
    return rows, ways


def _places(rows, ways, wide):
    """{node: x of its middle}: again and again towards the middle of its neighbours, and then apart."""
    near = {node: [] for row in rows for node in row}
    for way in ways:
        for a, b in pairwise(way):
            near[a].append(b)
            near[b].append(a)
    middle = {}
    for row in rows:
        _spread(row, {node: 100.0 * k for k, node in enumerate(row)}, wide, middle)
    for _ in range(SWEEPS):
        for row in (*rows, *reversed(rows)):
            wanted = {n: sum(middle[m] for m in near[n]) / len(near[n]) if near[n] else middle[n] for n in row}
            row.sort(key=lambda n: (wanted[n], str(n)))
            _spread(row, wanted, wide, middle)
    left = min(middle[n] - _half(n, wide) for n in near)
    return {n: round(x - left + MARGIN, 1) for n, x in middle.items()}


def _spread(row, wanted, wide, middle):
    """Set the places of a row in its order, none over another: halfway between pushing to the right and to the left."""
    apart = [_half(a, wide) + GAP + _half(b, wide) for a, b in pairwise(row)]
    right, left = [wanted[n] for n in row], [wanted[n] for n in row]
    for k, least in enumerate(apart):
        right[k + 1] = max(right[k + 1], right[k] + least)
    for k in range(len(apart) - 1, -1, -1):
        left[k] = min(left[k], left[k + 1] - apart[k])
    for node, a, b in zip(row, right, left):
        middle[node] = (a + b) / 2
