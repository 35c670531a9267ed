"""Federated training: what must hold bit for bit, that models learn, and what is refused before any work."""

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import training
from nbmetrics.datasets import digit_images, digits
from tests.slow import by_default

KINDS = ("wgan-gp", "ddpm")
RING = np.array([[np.cos(t), np.sin(t)] for t in 2 * np.pi * np.arange(5) / 5])
RNG = np.random.default_rng(0)
MODES = [3 * (centre + 0.1 * RNG.standard_normal((60, 2))) + 10 for centre in RING]
X, Y = digits()


def bits(trained):
    return {name: part.numpy().tobytes() for name, part in trained.state.items()}


class Log:
    """A monitor that samples the model it is handed, from torch's stream too."""

    def __init__(self, federation=None):
        self.federation, self.found = federation, []

    def log(self, step, source, **losses):
        import torch

        torch.rand(3)
        self.found.append((step, source(4, np.random.default_rng(0)), losses))


@pytest.mark.parametrize("rows", [MODES[0], X[:100]], ids=["plane", "digits"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_client_is_central_training_bit_for_bit_with_a_monitor_and_without(kind, rows):
    log = Log()
    once = training.train(kind, [rows], rounds=1, local_steps=6, seed=3)
    often = training.train(kind, [rows], rounds=6, local_steps=1, seed=3, monitor=log)
    assert bits(once) == bits(often)
    other = training.train(kind, [rows], rounds=1, local_steps=6, seed=4)
    assert bits(other)["generator"] != bits(once)["generator"]
    assert [step for step, _, _ in log.found] == [1, 2, 3, 4, 5, 6] and once.steps == often.steps == 6
    assert all(np.isfinite(list(losses.values())).all() and losses for _, _, losses in log.found)
    assert not np.array_equal(log.found[0][1], log.found[-1][1])  # the model handed over is that of its round


@pytest.mark.parametrize("kind", KINDS)
def test_a_round_is_the_weighted_average_of_what_each_client_would_have_done(kind):
    import torch

    from nbmetrics.training import loop
    from nbmetrics.training.models import model_of

    model = model_of(kind, 2)
    start = model.start(torch.Generator().manual_seed(0))
    parts = [torch.tensor(rows, dtype=torch.float32)[None] / 10 for rows in MODES[:3]]

    class Fixed:
        """Draws made beforehand, of these clients."""

        def __init__(self, which):
            self.which, self.rng = which, torch.Generator().manual_seed(1)

        def rows(self):
            return torch.cat([parts[k] for k in self.which])

        def normal(self, width):
            return torch.randn((3, 60, width), generator=self.rng)[self.which]

        def uniform(self):
            return torch.rand((3, 60, 1), generator=self.rng)[self.which]

    def stepped(which):
        state = {name: part.repeat(len(which), 1) for name, part in start.items()}
        draws = Fixed(which)
        for number in (1, 2, 3):
            model.step(state, draws, number)
        return state

    together, alone = stepped([0, 1, 2]), [stepped([k]) for k in range(3)]
    weights = [0.5, 0.3, 0.2]
    for name, stacked in together.items():
        found = loop.average(stacked, torch.tensor(weights)[:, None])
        wanted = sum(w * own[name][0].double() for w, own in zip(weights, alone))
        torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-7)
    assert not torch.equal(together["generator"][0], together["generator"][1])


def test_the_average_of_alike_clients_is_exact_whatever_their_number():
    import torch

    from nbmetrics.training.loop import average

    row = torch.randn(1, 1000, generator=torch.Generator().manual_seed(0))
    for k in (1, 2, 3, 7, 10):
        assert torch.equal(average(row.repeat(k, 1), torch.full((k, 1), 1 / k)), row[0])


def test_weights_count_and_a_client_of_weight_zero_is_not_there():
    federation = nm.Federation(dict(zip("abc", MODES)))
    options = {"rounds": 2, "local_steps": 2}
    without = training.train("wgan-gp", federation.drop("c"), **options)
    silent = training.train("wgan-gp", federation.with_weights([1, 1, 0]), **options)
    uneven = training.train("wgan-gp", federation.with_weights([3, 1, 0]), **options)
    assert bits(without) == bits(silent) != bits(uneven)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_run_goes_on_with_the_bits_of_the_whole_one(kind, tmp_path):
    class Stop(Exception):
        pass

    class Stopping:
        def log(self, step, source, **losses):
            if step >= 14:
                raise Stop

    options = {"rounds": 20, "local_steps": 1}
    whole = training.train(kind, MODES, **options)
    with pytest.raises(Stop):
        training.train(kind, MODES, **options, checkpoints=tmp_path / "run", monitor=Stopping())
    kept = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert kept == [f"round-{k:06d}.safetensors" for k in range(2, 13, 2)]
    log = Log()
    resumed = training.train(kind, MODES, **options, checkpoints=tmp_path / "run", monitor=log)
    assert [step for step, _, _ in log.found] == list(range(13, 21))
    assert bits(resumed) == bits(whole)
    last = training.load(tmp_path / "run/round-000020.safetensors")
    assert bits(last) == bits(whole) and (last.rounds, last.steps) == (20, 20)
    np.testing.assert_array_equal(last.sample(5, 1), whole.sample(5, 1))
    for change in ({"seed": 1}, {"local_steps": 2}):
        with pytest.raises(nm.InvalidInput, match=r"^checkpoints: .*contains a run of other data"):
            training.train(kind, MODES, **{**options, **change}, checkpoints=tmp_path / "run")
    with pytest.raises(nm.InvalidInput, match=r"^checkpoints: .*more than 1 rounds"):
        training.train(kind, MODES, rounds=1, local_steps=1, checkpoints=tmp_path / "run")


@pytest.mark.parametrize("kind", by_default(KINDS, "ddpm"))
def test_going_on_with_one_point_collapses_there(kind):
    model = training.train(kind, [np.concatenate(MODES)], rounds=1, local_steps=60)
    point = MODES[0][:1]
    left = training.train(kind, [point], rounds=2, local_steps=100, start=model)
    assert left.steps == 260
    before, after = (m.sample(500, 0) for m in (model, left))
    assert after.var(axis=0).sum() < 0.1 * before.var(axis=0).sum()
    assert np.linalg.norm(after.mean(axis=0) - point[0]) < 0.5 * np.linalg.norm(before.mean(axis=0) - point[0])


@pytest.mark.parametrize("kind", by_default(KINDS, "ddpm"))
def test_points_in_the_plane_are_learned_whatever_their_place_and_scale(kind):
    federation = nm.Federation([np.concatenate(MODES)])
    untrained, model = (training.train(kind, federation, rounds=1, local_steps=n) for n in (1, 250))
    scores = nm.evaluate(federation, {"untrained": untrained, "trained": model}, samples=2000, progress=False)
    fid = scores.table[scores.table["metric"] == "fid"].set_index("generator")["all"]
    assert fid["trained"] < 0.2 * fid["untrained"]


def test_psi_takes_variety_and_a_seed_means_the_same_rows():
    model = training.train("ddpm", [np.concatenate(MODES)], rounds=1, local_steps=300)
    spread = [model.sample(500, 0, psi=psi).var(axis=0).sum() for psi in (0, 0.3, 1)]
    assert spread[0] < 1e-9 < spread[1] < spread[2]
    np.testing.assert_array_equal(model.sample(5, 7), model.sample(5, np.random.default_rng(7)))
    assert model.sample(0, 0).shape == (0, 2)


def test_a_monitor_of_features_is_given_images():
    pictures, labels = digit_images()
    seen = nm.Federation.from_labels(pictures[:60], labels[:60] % 2, extractor="digits-cnn")
    log = Log(seen)
    model = training.train("wgan-gp", [X[:60]], rounds=1, local_steps=1, monitor=log)
    assert log.found[0][1].shape == (4, 8, 8) and log.found[0][1].dtype == np.uint8
    scores = nm.evaluate(seen, {"wgan": model.images}, "fid", samples=80, progress=False)
    assert np.isfinite(scores.table["all"]).all()
    np.testing.assert_array_equal(training.as_images(X[:5]), pictures[:5])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "steps"), [("wgan-gp", 600), ("ddpm", 600)])
def test_digits_are_learned_by_one_and_by_clients_of_one_class(kind, steps):
    pictures, labels = digit_images()
    seen = nm.Federation.from_labels(pictures, labels, extractor="digits-cnn")
    classes = nm.Federation.from_labels(X, Y)
    models = {"untrained": training.train(kind, [X], rounds=1, local_steps=1)}
    models["central"] = training.train(kind, [X], rounds=1, local_steps=steps)
    models["federated"] = training.train(kind, classes, rounds=steps, local_steps=1)
    models["drifting"] = training.train(kind, classes, rounds=2, local_steps=steps // 2)
    generators = {name: model.images for name, model in models.items()}
    table = nm.evaluate(seen, generators, "kid", samples=500, progress=False).table
    kid = table.set_index("generator")["all"]
    assert max(kid["central"], kid["federated"]) < kid["untrained"] / 5
    assert kid["drifting"] > 2 * kid["federated"]


DISTRIBUTION = nm.Gaussian([0.0, 0.0])
POINTS = MODES[0]
REFUSED = {
    "kind": (lambda: training.train("wgan", [POINTS], rounds=1, local_steps=1), "kind", "wgan-gp"),
    "rounds": (lambda: training.train("ddpm", [POINTS], rounds=0, local_steps=1), "rounds", "from 1 to"),
    "many rounds": (lambda: training.train("ddpm", [POINTS], rounds=10**7, local_steps=1), "rounds", "from 1 to"),
    "half a step": (lambda: training.train("ddpm", [POINTS], rounds=1, local_steps=0.5), "local_steps", "from 1"),
    "many steps": (lambda: training.train("ddpm", [POINTS], rounds=1, local_steps=10**6), "local_steps", "from 1"),
    "seed": (lambda: training.train("ddpm", [POINTS], rounds=1, local_steps=1, seed=-1), "seed", "from 0"),
    "a distribution": (
        lambda: training.train("ddpm", [DISTRIBUTION], rounds=1, local_steps=1),
        "federation",
        "Draw rows first",
    ),
    "width": (lambda: training.train("ddpm", [X[:, :3]], rounds=1, local_steps=1), "federation", "2 columns"),
    "grey levels": (lambda: training.train("ddpm", [16 * X], rounds=1, local_steps=1), "federation", "divide by"),
    "one array": (lambda: training.train("ddpm", POINTS, rounds=1, local_steps=1), "clients", "Give several"),
    "monitor": (
        lambda: training.train("ddpm", [POINTS], rounds=1, local_steps=1, monitor=print),
        "monitor",
        "method log",
    ),
    "device": (lambda: training.train("ddpm", [POINTS], rounds=1, local_steps=1, device="tpu"), "device", "'cpu'"),
    "folder": (
        lambda: training.train("ddpm", [POINTS], rounds=1, local_steps=1, checkpoints="no/such/place"),
        "checkpoints",
        "an existing folder",
    ),
    "start": (lambda: training.train("ddpm", [POINTS], rounds=1, local_steps=1, start=3), "start", "the result of"),
    "condition": (
        lambda: training.train("ddpm", [nm.Client(POINTS, condition=POINTS)], rounds=1, local_steps=1),
        "federation",
        "Leave the conditions out",
    ),
    "many clients": (lambda: training.train("ddpm", [POINTS] * 201, rounds=1, local_steps=1), "federation", "merge"),
    "images": (lambda: training.as_images(POINTS), "rows", r"\(n, 64\)"),
    "bright images": (lambda: training.as_images(2 * X), "rows", "from 0 to 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_name_with_the_fix(case):
    act, argument, fix = REFUSED[case]
    with pytest.raises(nm.InvalidInput) as found:
        act()
    assert found.value.argument.startswith(argument)
    assert fix.replace("\\", "") in str(found.value)


def test_features_of_images_are_refused_and_say_what_to_train_on():
    pictures, labels = digit_images()
    federation = nm.Federation.from_labels(pictures[:20], labels[:20] % 2, extractor="digits-cnn")
    with pytest.raises(nm.InvalidInput, match=r"features of images.*pixels as rows"):
        training.train("ddpm", federation, rounds=1, local_steps=1)


def test_a_start_of_another_kind_or_width_and_psi_out_of_range_are_refused():
    model = training.train("wgan-gp", [POINTS], rounds=1, local_steps=1)
    for kind, rows in (("ddpm", POINTS), ("wgan-gp", X[:9])):
        with pytest.raises(nm.InvalidInput, match=r"^start: "):
            training.train(kind, [rows], rounds=1, local_steps=1, start=model)
    for psi in (-0.1, 1.1, np.nan):
        with pytest.raises(nm.InvalidInput, match=r"^psi: "):
            model.sample(3, 0, psi=psi)
