"""Every public entry that gives numbers, and the settings of a process that must not change one bit of them.

    python -m tests.ambient [entry …]       a digest of each entry's numbers as JSON

Functions of rows and names of metrics are taken from the package's own lists, so that a new one is tried too.
"""

import contextlib
import functools
import hashlib
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import nbmetrics as nm
from nbmetrics.cli import main as command
from nbmetrics.metrics import base, prdc, w1
from nbmetrics.metrics.kid import kernels
from tests import ROOT

torch = None if find_spec("torch") is None else __import__("torch")
LIBRARIES = ("numpy",) if torch is None else ("numpy", "torch")
MANY, FEW, WIDTH = 500, 160, 12
# What functions of rows are given, by the names of their arguments, out of `rows`.
ARGUMENTS = {"real": "x", "generated": "y", "train": "x", "test": "t", "rows": "y", "probabilities": "p"}
ARGUMENTS |= {"x": "c", "y": "x", "y_hat": "z", "a": "x", "b": "y"}
SETTINGS_OF_CALLS = {"alpha": 0.5, "permutations": 19}
CONDITIONAL = ("cfid", "mfid", "rfid")
PROBABILITIES = ("inception_score", "am_score")
KERNELS = {
    "cubic": nm.Polynomial(3),
    "rbf": nm.RBF("median"),
    "narrow": nm.RBF(0.05),  # of which most values underflow
    "features": nm.RandomFeatures(nm.RBF(2.0), 64),
}
UNCERTAINTIES = {"influence": nm.Influence, "jackknife": nm.Jackknife, "bootstrap": lambda: nm.Bootstrap(20)}


@functools.cache
def rows(library):
    """(n, 12) float32 rows by letter; some of t and y lie so far away that densities there underflow."""
    rng = np.random.default_rng(5)
    made = {name: rng.normal(size=(count, WIDTH)) for name, count in dict(x=MANY, y=FEW, t=FEW, c=MANY, z=MANY).items()}
    made["y"] = 1.1 * made["y"] + 0.2
    made["t"][:3] += 60.0
    made["y"][:3] -= 60.0
    made["p"] = rng.dirichlet(np.full(WIDTH, 0.3), size=FEW)
    if library == "numpy":
        return {name: part.astype(np.float32) for name, part in made.items()}
    return {name: torch.from_numpy(part.astype(np.float32)) for name, part in made.items()}


@functools.cache
def images():
    rng = np.random.default_rng(6)
    return rng.integers(0, 256, size=(24, 10, 10, 3), dtype=np.uint8), rng.integers(0, 256, (24, 8, 8), dtype=np.uint8)


@functools.cache
def network():
    """A module that makes rows of images."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(3)
        layers = [torch.nn.Conv2d(3, 6, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(384, WIDTH)]
        return torch.nn.Sequential(*layers)


def call_of(function, library):
    """Call a function of rows with rows of its arguments' names."""
    names = inspect.signature(function).parameters
    given = {name: rows(library)[ARGUMENTS[name]] for name in names if name in ARGUMENTS}
    if function.__name__ in PROBABILITIES:
        given = dict.fromkeys(given, rows(library)["p"])
    elif function.__name__ in ("cfid", "rfid", "mfid", "jfid"):
        given = {name: part[:MANY] for name, part in given.items()}
    return function(**given, **{name: value for name, value in SETTINGS_OF_CALLS.items() if name in names})


def federation(library, kind=""):
    x, t, c, p = (rows(library)[name] for name in "xtcp")
    half = MANY // 2
    parts = {"a": slice(0, half), "b": slice(half, MANY)}
    if kind == "conditional":
        return nm.Federation([nm.Client(x[part], condition=c[part], name=name) for name, part in parts.items()])
    if kind == "probabilities":
        return nm.Federation({"a": p[: FEW // 2], "b": p[FEW // 2 :]})
    tests = {"a": t[: FEW // 2], "b": t[FEW // 2 :]}
    return nm.Federation([nm.Client(x[part], test=tests[name], name=name) for name, part in parts.items()])


def scores_of(metric, library, **settings):
    """Scores of two generators by one metric."""
    kind = "conditional" if metric in CONDITIONAL else "probabilities" if metric in PROBABILITIES else ""
    y, p = (rows(library)[name] for name in "yp")
    generators = {"g": y, "h": y * 1.5}
    if kind == "conditional":
        generators = {"g": lambda c, rng: c * 0.5, "h": lambda c, rng: c * 0.2 + 1}
    elif kind == "probabilities":
        generators = {"g": p, "h": p[: FEW // 2]}
    elif metric == "log_likelihood":
        generators = {"g": nm.Gaussian(np.zeros(WIDTH)), "h": nm.KernelDensity(rows("numpy")["y"], 0.3)}
    scores = nm.evaluate(federation(library, kind), generators, [metric], progress=False, **settings)
    return scores.table, scores.clients, scores.cautions, str(scores)


def single_precision(library):
    """KID where products are in float32, as of many rows."""
    with mock.patch.object(kernels, "FLOAT64_WORK", 0):
        return [nm.kid(rows(library)["x"], rows(library)["y"], kernel) for kernel in KERNELS.values()]


def critic():
    with mock.patch.object(w1, "CRITIC_STEPS", 3):
        return nm.w1(rows("torch")["x"][:50], rows("torch")["y"][:50], method="critic")


def reports(library):
    """What else a table says."""
    y = rows(library)["y"]
    scores = nm.evaluate(federation(library), {"g": y, "h": y * 1.5}, ["fid", "kid"], uncertainty=nm.Influence())
    questions = [scores.flips, scores.inversions, scores.worst, scores.regret, scores.ranks, scores.agreement]
    answers = [question("fid") for question in questions]
    answers += [scores.heterogeneity("fid", shuffles=9), scores.modes("g")]
    return [*answers, scores.to_records(), scores.to_markdown()]


def race(library):
    spread = {"g": 1.0, "h": 1.4}
    samplers = {
        name: lambda n, rng, by=by: rng.normal(0, by, size=(n, WIDTH)).astype(np.float32) for name, by in spread.items()
    }
    result = nm.race(federation(library), samplers, "fid", budget=1500)
    return result.table, result.winner, result.reason, str(result)


def accumulated(metric, library):
    """Scores of batches."""
    from nbmetrics.torch import Score

    score = Score(metric, clients=["a", "b"])
    x, y = rows(library)["x"], rows(library)["y"][:, :8] if metric == "kid" else rows(library)["y"]
    for start in range(0, 300, 100):
        batch = x[start : start + 100]
        score.update(batch[:, :8] if metric == "kid" else batch, real=True, client="ab"[start > 100])
    score.update(y[:80], real=False)
    score.update(y[80:], real=False)
    return {name: value.item() for name, value in score.compute().items()}, score.cautions


def trained(kind, dim):
    x = np.abs(rows("numpy")["x"]).ravel()
    data = (x[: 40 * dim].reshape(40, dim) / x.max()).astype(np.float64)
    model = nm.training.train(kind, [data[:20], data[20:]], rounds=2, local_steps=2)
    with tempfile.TemporaryDirectory() as folder:
        loaded = nm.training.load(model.save(Path(folder) / "m.safetensors"))
    return model.state, model.sample(5, 0), loaded.sample(5, 1)


def monitored():
    monitor = nm.Monitor(federation("numpy"), ["fid", "kid"])
    for step in range(2):
        monitor.log(step, lambda n, rng: rng.normal(size=(n, WIDTH)), loss=1.0 / (step + 1))
    monitor.wait()
    content = monitor.table, monitor.losses, monitor.troubles
    monitor.close()
    return content


def result_of(lab):
    """The numbers of a lab as it opens."""
    numbers = {name: part for name, part in lab.result.items() if name not in ("rev", "seconds")}
    lab.close()
    return numbers


def dashboard():
    y = rows("numpy")["y"]
    lab = nm.Dashboard(federation("numpy"), {"g": y, "h": y * 1.5}, ["fid"])
    content = lab.scores.table, list(lab.verdict)
    lab.close()
    return content


def summaries():
    sent = [nm.federated.client_summary(rows("numpy")["x"][part::2], ("fid", "kid")) for part in (0, 1)]
    y = rows("numpy")["y"]
    scores = nm.federated.aggregate(sent, None, {"g": y, "h": y * 1.5}, ("fid", "kid"))
    return sent, scores.table, nm.federated.inspect(sent[0])


def densities(library):
    x, far = rows("numpy")["x"], rows(library)["t"]
    kernels = nm.KernelDensity(x, 0.2)
    both = nm.Mixture([nm.Gaussian(np.zeros(WIDTH)), nm.Gaussian(np.full(WIDTH, 50.0))])
    logs = [each.log_prob(far) for each in (kernels, both, nm.Gaussian(np.zeros(WIDTH)))]
    moons = nm.TwoMoons(0.05)
    logs += [moons.sample(9, 0), kernels.sample(9, 0), both.sample(9, 0)]
    moments = nm.Moments.of(rows(library)["x"])
    return [*logs, moments.mean, moments.cov, nm.fid(moments, rows(library)["y"])]


def theorems(library):
    here, y = federation(library), rows("numpy")["y"]
    centre = nm.theory.barycenter(here)
    bound = nm.theory.fid_avg_bound(here, nm.Generator(y))
    first, second = (rows("numpy")["x"][part, :2] for part in (slice(0, 150), slice(150, 300)))
    twin = nm.theory.twin(nm.Federation({"a": nm.Gaussian(first.mean(0)), "b": nm.Gaussian(second.mean(0) + 3)}))
    best = nm.best_mixture(here, {"g": rows(library)["y"], "h": rows(library)["z"]})
    return [nm.theory.kid_gap(here), centre.mean, centre.cov, bound, twin.all_gap, str(best)]


def command_line():
    """The table that the command prints."""
    with tempfile.TemporaryDirectory() as folder:
        clients, generated, out = (Path(folder) / name for name in ("clients", "y.npy", "scores.json"))
        clients.mkdir()
        for name in "xt":
            np.save(clients / f"{name}.npy", rows("numpy")[name])
        np.save(generated, rows("numpy")["y"])
        with contextlib.redirect_stdout(io.StringIO()):
            args = ["score", str(clients), str(generated), "--metrics", "fid,precision", "--json", str(out)]
            code = command([*args, "--quiet"])
        return code, json.loads(out.read_text("utf-8"))["table"] if code == 0 else None


def entries():
    """{name: function without arguments}; its value is all that must not change."""
    table = {}
    for name, room in nm._HOME.items():
        function = getattr(nm, name)
        if inspect.isfunction(function) and (room.startswith("metrics.") or name == "two_sample"):
            table |= {f"{name} of {library}": functools.partial(call_of, function, library) for library in LIBRARIES}
    for library in LIBRARIES:
        for metric in base._REGISTRY:
            table[f"evaluate {metric} of {library}"] = functools.partial(scores_of, metric, library)
        for name, kernel in KERNELS.items():
            metric = nm.metrics.KID(kernel)
            table[f"evaluate kid {name} of {library}"] = functools.partial(scores_of, metric, library)
        for name, make in UNCERTAINTIES.items():
            for metric in ("fid", "kid"):
                table[f"evaluate {metric} {name} of {library}"] = functools.partial(
                    lambda metric, library, make: scores_of(metric, library, uncertainty=make()), metric, library, make
                )
        for make in (single_precision, reports, race, densities, theorems):
            table[f"{make.__name__} of {library}"] = functools.partial(make, library)
    for kind in ("Playground", "CorrelationLab", "TwinsLab", "MemorizationLab", "PrivacyLab"):
        table[kind] = functools.partial(lambda kind: result_of(getattr(nm, kind)()), kind)
    table |= {"Dashboard": dashboard, "Monitor": monitored, "summaries": summaries, "command": command_line}
    table["experiment"] = lambda: nm.experiments.gaussian_toy(samples=200)
    table |= {f"extract {name}": functools.partial(nm.extract, images()[1], name) for name in ("pixels", "digits-cnn")}
    if torch is not None:
        table["extract own module"] = lambda: nm.extract(images()[0], network(), cache=False)
        table["extract own module, cached"] = lambda: nm.extract(images()[0], network())
        for metric in ("fid", "kid"):
            for library in LIBRARIES:
                table[f"Score {metric} of {library}"] = functools.partial(accumulated, metric, library)
        for kind in ("wgan-gp", "ddpm"):
            table |= {f"train {kind} of {dim}": functools.partial(trained, kind, dim) for dim in (2, 64)}
        table["w1 critic"] = critic
    return table


def digest(value):
    """A digest of all numbers and words in a value, to the last bit."""
    whole = hashlib.sha256()

    def add(part):
        if isinstance(part, pd.DataFrame):
            add([*part.columns, *(part[name].tolist() for name in part.columns)])
        elif isinstance(part, dict):
            add([*part.items()])
        elif torch is not None and torch.is_tensor(part):
            add(part.detach().cpu().numpy())
        elif isinstance(part, np.ndarray):
            whole.update(f"{part.dtype} {part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        elif isinstance(part, (list, tuple)):
            whole.update(f"{len(part)}:".encode())
            for item in part:
                add(item)
        elif isinstance(part, bytes):
            whole.update(part)
        else:
            assert isinstance(part, (str, int, float, bool, np.generic, type(None))), type(part)
            whole.update(repr(part.item() if isinstance(part, np.generic) else part).encode() + b";")

    add(value)
    return whole.hexdigest()[:16]


def outcome(entry):
    """The digest of an entry's value, or the error."""
    prdc.forget()  # results remembered by content would hide others
    with tempfile.TemporaryDirectory() as home:
        before = os.environ.get("NBMETRICS_HOME")
        os.environ["NBMETRICS_HOME"] = home
        try:
            return digest(entry())
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]
        finally:
            os.environ.pop("NBMETRICS_HOME") if before is None else os.environ.update(NBMETRICS_HOME=before)


@contextlib.contextmanager
def changed(read, write, value):
    before = read()
    write(value)
    try:
        yield
    finally:
        write(before)


def _settings():
    table = {"np.seterr": functools.partial(np.errstate, all="raise")}
    for name, value in {"pandas strings": True, "pandas objects": False}.items():
        table[name] = functools.partial(pd.option_context, "future.infer_string", value)
    if torch is None:
        return table
    for name in ("bfloat16", "float16"):
        table[f"autocast {name}"] = functools.partial(torch.autocast, "cpu", dtype=getattr(torch, name))
    for name in ("float64", "bfloat16"):
        dtype = functools.partial(changed, torch.get_default_dtype, torch.set_default_dtype)
        table[f"default {name}"] = functools.partial(dtype, getattr(torch, name))
    table |= {"inference mode": torch.inference_mode, "no gradients": torch.no_grad}
    table["default device meta"] = functools.partial(torch.device, "meta")
    deterministic = functools.partial(changed, torch.are_deterministic_algorithms_enabled)
    table["deterministic"] = functools.partial(deterministic, torch.use_deterministic_algorithms, True)
    precision = functools.partial(changed, torch.get_float32_matmul_precision, torch.set_float32_matmul_precision)
    table["products in bfloat16"] = functools.partial(precision, "medium")
    return table


# What is set in a running process, by name; each gives a context manager.
SETTINGS = _settings()
# What only a new process has: arguments of Python, and its environment.
PROCESSES = {
    "optimized": (["-O"], {}),
    "warnings are errors": (["-W", "error"], {}),
    "cp1252": ([], {"PYTHONIOENCODING": "cp1252"}),
    "all three": (["-O", "-W", "error"], {"PYTHONIOENCODING": "cp1252"}),
}
# Entries that a setting was seen to change, or that are made of what it changes; each takes a moment.
TELLING = ["prdc of torch", "realism of torch", "auth_pct of torch", "mifid of torch", "evaluate density of torch"]
TELLING += ["single_precision of torch", "two_sample of torch", "rrke of numpy", "fld of numpy", "densities of numpy"]
TELLING += ["extract own module, cached", "Score fid of torch", "Score kid of numpy", "w1 critic", "MemorizationLab"]
TELLING += ["train wgan-gp of 2", "train ddpm of 2"]


def plain(names):
    """The digests of these entries, {name: digest}, as the process is."""
    table = entries()
    return {name: outcome(table[name]) for name in names if name in table}


def different(names, setting, expected):
    """The entries that a setting changes, {name: digest or error}."""
    if setting in SETTINGS:
        with SETTINGS[setting]():
            found = plain(names)
    else:
        options, environment = PROCESSES[setting]
        done = subprocess.run(
            [sys.executable, *options, "-m", "tests.ambient", *names],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
        found = json.loads(done.stdout.splitlines()[-1])
    return {name: digest for name, digest in found.items() if digest != expected[name]}


def show_all():
    """Print what people print."""
    x, y = rows("numpy")["x"], rows("numpy")["y"]
    scores = nm.evaluate(
        federation("numpy"), {"g": y, "h": y * 1.5}, ["fid", "kid"], uncertainty=nm.Influence(), progress=False
    )
    print(scores, nm.two_sample(x, y, permutations=19), scores.heterogeneity("fid", shuffles=9), sep="\n")
    print(nm.prdc(x, y), nm.best_mixture({"a": x}, {"g": y, "h": y * 1.5}), scores.flips("fid"), sep="\n")


if __name__ == "__main__":
    show_all()
    print(json.dumps(plain(sys.argv[1:] or entries())))
