"""docs/flow.svg: the way a score takes, and the way a drag takes. Every name in it is one of the code."""

from tests import svg

WIDTH, HEIGHT, TALL = 1060, 594, 46
DATA, STEP, SHARED = "#f1f3f5", "#dfeaf5", "#fdebd3"
# (key: left, upper edge, width, fill, what it is, its name in the code or what it holds)
BOXES = {
    "real": (20, 64, 170, DATA, "a client's data", "rows, distribution"),
    "client": (220, 64, 110, STEP, "with a weight", "Client"),
    "clients": (360, 64, 160, STEP, "what it would reveal", "Metric.summarize"),
    "summaries": (550, 64, 120, DATA, "summaries", "S₁ … S_k"),
    "avg": (720, 64, 140, STEP, "with each client", "Metric.terms"),
    "pool": (360, 154, 160, STEP, "of the mixture", "Metric.pool"),
    "pooled": (550, 154, 120, DATA, "pooled summary", "S of Σ λᵢ Pᵢ"),
    "all": (720, 154, 140, STEP, "once", "Metric.terms"),
    "made": (20, 244, 170, DATA, "a generator's source", "rows, function, …"),
    "generator": (220, 244, 110, STEP, "a source of rows", "Generator"),
    "generators": (360, 244, 160, STEP, "as for the clients", "Metric.summarize"),
    "generated": (550, 244, 120, DATA, "summary", "S_G"),
    "scores": (890, 109, 150, SHARED, "avg, all, gap, ranks", "Scores"),
    "hand": (110, 394, 120, DATA, "each frame", "pointer, key"),
    "store": (260, 394, 150, STEP, "the scene, rev + 1", "store.js"),
    "compute": (470, 394, 160, STEP, "closed forms", "the lab's maths"),
    "paint": (720, 394, 180, STEP, "numbers, pictures, words", "the lab's views"),
    "lab": (260, 524, 150, STEP, "reads, or refuses", "Lab"),
    "worker": (470, 524, 160, STEP, "takes the newest scene", "Worker"),
    "result": (720, 524, 180, SHARED, "the same numbers, and more", "evaluate"),
}
HOMES = {
    "Client": "nbmetrics.federation:Client",
    "Generator": "nbmetrics.federation:Generator",
    "Metric.summarize": "nbmetrics.metrics.base:Metric.summarize",
    "Metric.pool": "nbmetrics.metrics.base:Metric.pool",
    "Metric.terms": "nbmetrics.metrics.base:Metric.terms",
    "Scores": "nbmetrics.evaluation.scores:Scores",
    "evaluate": "nbmetrics.evaluation.evaluate:evaluate",
    "Lab": "nbmetrics.labs.toolkit.lab:Lab",
    "Worker": "nbmetrics.labs.toolkit.worker:Worker",
}
LEVEL_ARROWS = [
    ("real", "client"), ("client", "clients"), ("clients", "summaries"), ("summaries", "avg"),
    ("pool", "pooled"), ("pooled", "all"),
    ("made", "generator"), ("generator", "generators"), ("generators", "generated"),
    ("hand", "store"), ("store", "compute"), ("compute", "paint"), ("lab", "worker"), ("worker", "result"),
]  # fmt: skip


def drawing():
    """The picture as SVG text."""
    parts = [
        svg.text(20, 36, "A score: evaluate(federation, generators, metrics)", size=15, weight=600, anchor="start"),
        svg.text(20, 354, "A drag: the page moves at once, Python follows", size=15, weight=600, anchor="start"),
        svg.text(20, 421, "in the page", size=11, anchor="start", style="italic"),
        svg.text(20, 550, "in Python", size=11, anchor="start", style="italic"),
    ]
    parts += [svg.curve([_right(a), _left(b)]) for a, b in LEVEL_ARROWS]
    from_generated, to_avg, to_all = _right("generated"), _left("avg"), _left("all")
    parts += [
        svg.curve([_below("summaries"), (610, 132), (440, 132), _above("pool")]),
        svg.curve([from_generated, (695, from_generated[1]), (695, to_avg[1] + 12), (to_avg[0], to_avg[1] + 12)]),
        svg.curve([from_generated, (695, from_generated[1]), (695, to_all[1] + 12), (to_all[0], to_all[1] + 12)]),
        svg.curve([_right("avg"), (965, _right("avg")[1]), _above("scores")]),
        svg.curve([_right("all"), (965, _right("all")[1]), _below("scores")]),
        svg.curve([_below("store"), _above("lab")]),
        svg.curve([_above("result"), _below("paint")]),
        svg.text(345, 476, "scene (a trait), or a message", size=11, anchor="start"),
        svg.text(345, 491, "{kind: ask, scene}: two in flight", size=11, anchor="start"),
        svg.text(820, 476, "result (a trait) with its rev:", size=11, anchor="start"),
        svg.text(820, 491, "an older one is dropped", size=11, anchor="start"),
        svg.text(965, 197, "with_weights weighs again", size=11),
        svg.text(965, 212, "what was scored once", size=11),
    ]
    for x, y, width, fill, what, name in BOXES.values():
        parts += [svg.box(x, y, width, TALL, fill), svg.text(x + width / 2, y + 19, name, weight=600)]
        parts.append(svg.text(x + width / 2, y + 35, what, size=11))
    description = (
        "Clients are summarized; avg scores each summary with the generator's and averages, all pools the summaries "
        "and scores once. In a lab the page paints its own numbers in every frame and sends its scene; Python answers "
        "the newest with a result of the same revision."
    )
    return svg.page(WIDTH, HEIGHT, "How a score and a drag flow through nbmetrics", description, parts)


def _left(key):
    x, y, *_ = BOXES[key]
    return x, y + TALL / 2


def _right(key):
    x, y, width, *_ = BOXES[key]
    return x + width, y + TALL / 2


def _above(key):
    x, y, width, *_ = BOXES[key]
    return x + width / 2, y


def _below(key):
    x, y = _above(key)
    return x, y + TALL
