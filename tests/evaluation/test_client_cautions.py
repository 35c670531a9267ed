"""Cautions about clients in `evaluate`: unlike the others, clipped, there twice; and who makes most of avg."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.evaluation.sentences import leading_clients

RNG = np.random.default_rng(5)
ROWS = {name: RNG.normal(size=(n, 8)) for name, n in (("north", 500), ("south", 600), ("west", 400), ("east", 90))}
GENERATORS = {"gan": RNG.normal(0.2, 1.0, size=(700, 8)), "ddpm": RNG.normal(size=(700, 8))}


def told(sites, generators=GENERATORS, metrics="fid"):
    """The cautions about clients, the gap by sample size apart."""
    scores = nm.evaluate(sites, generators, metrics, progress=False)
    return [line for line in scores.cautions if "gap of" not in line and "is bias" not in line]


def with_west(change):
    return {**ROWS, "west": change(ROWS["west"])}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: 37 * x + 120, "times as spread as the others' and lie 12"),
        (lambda x: 99 * x, "times as spread"),
        (lambda x: 1.8 * x, "are 1.8 times as spread"),
        (lambda x: x + 120, "standard deviations from the others'"),
        (lambda x: x + 1.2, "lie 1.2 standard deviations from the others'"),
        (lambda x: x + 1.2 * np.array([1, -1] * 4), "standard deviations from the others'"),
        (lambda x: (x - x.min(0)) / np.ptp(x, axis=0), "times as spread"),
        (lambda x: np.clip(x, -2, 2), "were its values clipped?"),
        (lambda x: np.maximum(x, -0.5), "were its values clipped?"),
    ],
)
def test_a_client_of_another_preprocessing_is_named(change, words):
    lines = told(with_west(change))
    assert lines and all(line.startswith("'west': ") for line in lines)
    assert any(words in line for line in lines)


def test_streams_and_tensors_are_seen_as_rows_are():
    torch = pytest.importorskip("torch")
    sites = with_west(lambda x: 3 * x)
    tensors = {name: torch.asarray(rows) for name, rows in sites.items()}
    streams = {name: nm.Client(nm.Stream(lambda rows=rows: np.array_split(rows, 4))) for name, rows in sites.items()}
    (line,) = told(sites)
    assert told(tensors) == told(streams) == [line]


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_alike_and_label_skewed_clients_are_not_cautioned(scale):
    rows, labels = nm.datasets.digits()
    for seed in range(3):
        federation = nm.Federation.dirichlet(scale * rows, labels, 6, 0.1, seed=seed)
        assert told(federation, {"g": scale * rows[::3] + scale * 0.01}) == []
    assert told({name: scale * own for name, own in ROWS.items()}, {"g": scale * GENERATORS["gan"]}) == []


@pytest.mark.parametrize("metrics", ["fid", "kid", "precision"])
def test_rows_that_are_there_twice_are_told(metrics):
    south = ROWS["south"]
    late = np.concatenate([RNG.normal(size=(1, 8)), south[::-1]]).astype(np.float32)
    assert told({**ROWS, "late": late}, metrics=metrics) == [
        "'south' and 'late' share 600 rows (of 600 and 601): what two clients hold counts twice."
    ]
    assert told(ROWS, {**GENERATORS, "copy": south[:400]}, metrics) == [
        "400 of the 400 distinct rows of generator 'copy' are rows of client 'south': "
        "copies score better than new rows would."
    ]
    assert told(ROWS, {**GENERATORS, "resampled": south[RNG.integers(600, size=600)]}, metrics)[0].endswith("would.")


def test_rows_of_few_values_are_no_copies():
    bits = {name: RNG.integers(0, 2, size=(n, 10)).astype(float) for name, n in (("a", 100), ("b", 600), ("c", 3000))}
    assert told(bits, {"g": RNG.integers(0, 2, size=(500, 10)).astype(float)}) == []


@pytest.mark.parametrize("metric", ["precision", "recall", "density", "coverage"])
@pytest.mark.parametrize(("times", "is_empty"), [(2, False), (5, False), (6, True), (8, True)])
def test_balls_of_radius_0_are_told(metric, times, is_empty):
    rows = np.repeat(ROWS["east"], times, axis=0)
    lines = told({"a": rows}, {"g": ROWS["north"]}, metric)
    assert any("neighbour 5 of 100% of the real rows lies at distance 0" in line for line in lines) == is_empty


def test_the_client_that_makes_most_of_avg_is_named_everywhere():
    sites = with_west(lambda x: 37 * x + 120)
    scores = nm.evaluate(sites, {"gan": GENERATORS["gan"]}, ("fid", "kid"), progress=False)
    lines = leading_clients(scores)
    values = scores.clients[scores.clients["metric"] == "fid"].set_index("client")["value"]
    assert lines[0].startswith(f"west makes more than 99.9 % of FID avg: {values['west']:,.0f} against 0.")
    assert lines[1].startswith("west makes more than 99.9 % of KID avg: ")
    assert lines[0] in str(scores) and lines[1] in scores._repr_html_()


@pytest.mark.parametrize("weights", [None, [1, 1, 1, 97]])
def test_alike_clients_have_no_leader_whatever_their_weights(weights):
    assert leading_clients(nm.evaluate(nm.Federation(ROWS).with_weights(weights or [1, 1, 1, 1]), GENERATORS)) == []
