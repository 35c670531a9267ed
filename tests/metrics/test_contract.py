"""What is asked of a metric: declared on `Metric` with defaults, filled in for an object that has the three functions.

Nothing else looks whether a metric has this or that.
"""

import ast
import inspect
import pickle

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.metrics import Metric, metric_of
from nbmetrics.metrics.base import _OLD_HOOKS, _REGISTRY, Defaults
from nbmetrics.metrics.capabilities import CAPABILITIES
from tests import ROOT
from tests.rooms import python_files

RNG = np.random.default_rng(0)
CLIENTS = [RNG.normal(size=(n, 3)) + shift for n, shift in ((40, 0.0), (30, 1.0))]
GENERATORS = {"near": RNG.normal(size=(50, 3)), "far": RNG.normal(size=(50, 3)) + 3.0}


class Shift:
    """The distance of the means: the four names that a metric must have."""

    name = "shift"

    def summarize(self, sample):
        return sample.rows.mean(axis=0)

    def pool(self, summaries, weights):
        return np.average(summaries, axis=0, weights=weights)

    def terms(self, real, generated):
        return {"shift": float(np.linalg.norm(real - generated))}


class Hooked(Shift):
    """The same, the higher the better, of distributions exactly, with a unit settled by the clients and a word to
    say."""

    name, label, higher_is_better, highest, unit = "closeness", "Closeness", True, 0.0, 1.0

    @property
    def convention(self):
        return f"Closeness in units of {self.unit:g}"

    def resolve(self, clients):
        settled = type(self)()
        settled.unit = float(len(clients))
        return settled

    def has_closed_form(self, distribution):
        return isinstance(distribution, nm.Gaussian)

    def summarize(self, sample):
        return sample.distribution.mean if sample.rows is None else super().summarize(sample)

    def summarize_repeated(self, sample, counts):
        return np.average(sample.rows, axis=0, weights=counts)

    def terms(self, real, generated):
        return {"closeness": -super().terms(real, generated)["shift"] / self.unit}

    def cautions(self, clients, generators):
        return [f"{len(clients)} clients and {len(generators)} generators"]

    def caution(self, real, generated):
        return "far apart: take care" if self.terms(real, generated)["closeness"] < -1.5 else ""


def evaluated(metric, clients=CLIENTS, generators=GENERATORS, **options):
    return nm.evaluate(clients, generators, metric, progress=False, **options)


def test_four_names_are_enough():
    scores = evaluated(Shift())
    means = np.array([x.mean(axis=0) for x in CLIENTS]), np.array([g.mean(axis=0) for g in GENERATORS.values()])
    apart = np.linalg.norm(means[0][None] - means[1][:, None], axis=2)
    np.testing.assert_allclose(scores.table["avg"], apart @ [4 / 7, 3 / 7])
    pooled = np.concatenate(CLIENTS).mean(axis=0)
    np.testing.assert_allclose(scores.table["all"], np.linalg.norm(pooled - means[1], axis=1))
    assert scores.label("shift") == "shift" and scores.conventions[0] == "shift; 30 to 40 rows per client"
    assert (
        scores.ranks("shift")["all"].tolist() == [1, 2] and scores.cautions == [] and scores.size_gap("shift")[0] == 0
    )


@pytest.mark.parametrize("design", [nm.Bootstrap(20), nm.Jackknife(10), nm.Influence()], ids=lambda d: type(d).__name__)
@pytest.mark.parametrize("metric", [Shift(), Hooked()], ids=lambda m: m.name)
@pytest.mark.filterwarnings("ignore::nbmetrics.evaluation.evaluate.BiasWarning")
def test_a_users_object_has_intervals(metric, design):
    table = evaluated(metric, uncertainty=design).table
    assert (table["avg_low"] < table["avg_high"]).all() and np.isfinite(table["gap_low"]).all()
    declared = type("Declared", (type(metric), Metric), {})()
    same = evaluated(declared, uncertainty=design).table
    np.testing.assert_array_equal(table.select_dtypes("number"), same.select_dtypes("number"))


@pytest.mark.filterwarnings("ignore::nbmetrics.evaluation.evaluate.BiasWarning")
def test_the_hooks_that_an_object_has_are_used():
    scores = evaluated(Hooked())
    assert scores.label("closeness") == "Closeness" and scores.ranks("closeness")["avg"].tolist() == [1, 2]
    assert scores.conventions[0] == "Closeness in units of 2; 30 to 40 rows per client"
    said = "Closeness, 3 of 6 scores (each client and all, by generator): far apart: take care."
    assert scores.cautions == ["2 clients and 2 generators", said]
    assert (evaluated(Hooked(), uncertainty=nm.Jackknife(10)).table["avg_high"] <= 0.0).all()
    distribution = nm.Gaussian([0.0, 0.0, 3.0])
    assert evaluated(Hooked(), [nm.Gaussian(np.zeros(3))], [distribution]).table["avg"].tolist() == [-3.0]


@pytest.mark.parametrize(
    ("hook", "value", "argument"),
    [("needs_test", True, "test"), ("no_resampling", "it cannot be resampled", "uncertainty")],
)
def test_a_hook_on_the_object_itself_counts(hook, value, argument):
    metric = Shift()
    setattr(metric, hook, value)
    with pytest.raises(nm.InvalidInput, match=argument):
        evaluated(metric, uncertainty=nm.Bootstrap(20))


@pytest.mark.parametrize(("old", "new"), _OLD_HOOKS.items())
@pytest.mark.parametrize("kind", [Shift, nm.metrics.FID], ids=["an object", "a subclass"])
def test_a_hook_by_an_old_name_is_refused_with_the_new_one(kind, old, new):
    with pytest.raises(nm.InvalidInput, match=rf"metrics: .* has the hook {old}.* Call it {new}"):
        evaluated(type("Own", (kind,), {old: lambda self, *given: None}))


def test_copies_that_matter_are_not_made():
    metric = Shift()
    metric.copies_matter = True
    assert "jackknife of thirds" in evaluated(metric, uncertainty=nm.Bootstrap(20)).conventions[1]


def test_theorems_take_a_users_object():
    sides = nm.theory.convexity(CLIENTS, GENERATORS["far"], Shift())
    np.testing.assert_allclose(sides, evaluated(Shift()).table[["all", "avg"]].iloc[1])


def test_an_object_is_wrapped_once_and_left_as_it_is():
    nameless = type("Nameless", (), {f: getattr(Shift, f) for f in ("summarize", "pool", "terms")})()
    assert metric_of(nameless).name == metric_of(nameless).label == "Nameless" and vars(nameless) == {}
    fid = nm.metrics.FID()
    assert metric_of(fid) is fid
    assert isinstance(metric_of(Shift), Metric)
    scores = pickle.loads(pickle.dumps(evaluated([Hooked(), "fid"])))
    assert scores.with_weights([1, 2]).conventions[0].startswith("Closeness in units of 2")


def test_the_guide_has_a_row_for_every_name():
    guide = (ROOT / "docs/metrics.md").read_text("utf-8")
    rows = "".join(line for line in guide.splitlines() if line.startswith("| `"))
    assert [name for name in _REGISTRY if f"`{name}`" not in rows] == []


def test_every_hook_says_what_it_is():
    said = inspect.getdoc(Metric).split("----------")[1].replace("\n", " \n ")
    for hook, value in vars(Metric).items():
        if not hook.startswith("_"):
            assert f" {hook} :" in said or f"{hook}, " in said or f", {hook} :" in said or inspect.getdoc(value), hook
    documented = {name for capability in CAPABILITIES for name, member in vars(capability).items() if member.__doc__}
    assert {hook for hook in vars(Defaults) if not hook.startswith("_")} <= documented


def sniffs(source):
    """The lines that ask by name whether a metric or a distribution has something."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"hasattr", "getattr"}:
            asked = ast.unparse(node.args[0]).rsplit(".", 1)[-1].lower().lstrip("_")
            if asked in {"m", "kind", "measure", "distribution", "sample"} or "metric" in asked:
                yield f"{node.lineno} {ast.unparse(node)}"


def test_nothing_else_looks_what_a_metric_or_a_distribution_has():
    asked = (
        "hasattr(self.metric, 'prepare')\ngetattr(metric, 'label')\nhasattr(distribution, 'mean')\nhasattr(rows, 'dim')"
    )
    assert [line[0] for line in sniffs(asked)] == ["1", "2", "3"]
    files = [path for path in python_files() if path.name != "distributions.py"]  # which says what a distribution has
    found = [f"{path}:{line}" for path in files for line in sniffs(path.read_text("utf-8"))]
    assert len(files) > 50 and not found, "\n".join(found)


def test_a_metric_is_found_by_its_name_as_tables_write_it():
    for name, kind in _REGISTRY.items():
        label = kind().label
        for written in (name, name.upper(), label, label.lower(), name.replace("_", " "), name.replace("_", "-")):
            assert type(nm.metrics.metric_of(written)) is kind, written
    clients = [nm.Gaussian([0.0]), nm.Gaussian([1.0])]
    assert nm.evaluate(clients, {"g": nm.Gaussian([0.0])}, ["FID", "KID"]).metrics == ("fid", "kid")
    for wrong in ("FIDD", "", "∞", "fid!kid"):
        with pytest.raises(nm.InvalidInput, match=r"^metrics: got "):
            nm.metrics.metric_of(wrong)
    with pytest.raises(nm.InvalidInput, match="twice"):
        nm.evaluate(clients, {"g": nm.Gaussian([0.0])}, ["FID", "fid"])
