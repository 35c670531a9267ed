"""The best checkpoints are kept with the weights of their steps, bit for bit, and all others are let go."""

from functools import partial

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput
from nbmetrics.labs.monitor.live_run import LiveRun

torch = pytest.importorskip("torch", reason="what is kept is a module of PyTorch's")
load_file = pytest.importorskip("safetensors.torch", reason="what is kept is a safetensors file").load_file

RULES = [("fid", "all"), ("kid", "all")]
STEPS = 12


@pytest.fixture
def monitored(opened):
    return partial(opened, LiveRun, keep_all=True)


def clients():
    rng = np.random.default_rng(0)
    return {"north": rng.normal(-1, 1, (90, 2)), "south": rng.normal(1, 1, (90, 2))}


class GAN(torch.nn.Module):
    """A generator alone."""

    latent_dim = 2

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def forward(self, latents):
        return self.layers(latents)


class VAE(torch.nn.Module):
    """An encoder and a decoder with batch norm, whose running means are no parameters."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = torch.nn.Linear(2, 4), torch.nn.Linear(2, 2)
        self.norm = torch.nn.BatchNorm1d(2)

    def sample(self, n, rng):
        latents = torch.as_tensor(rng.standard_normal((n, 2)), dtype=torch.float32)
        return self.norm(self.decoder(latents))

    def forward(self, rows):
        mean, spread = self.encoder(rows).chunk(2, dim=1)
        return self.norm(self.decoder(mean + torch.exp(spread) * torch.randn_like(mean)))


def steps_of(model, make_rows, on_step):
    """Train for some steps, the last of them at a rate that ruins it; return the weights of each step."""
    real = torch.tensor(np.concatenate(list(clients().values())), dtype=torch.float32)
    optimiser, weights = torch.optim.SGD(model.parameters(), 0.05), {}
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = 0.05 if step < STEPS - 4 else 5.0
        loss = ((make_rows(real).mean(dim=0) - real.mean(dim=0) - 0.1) ** 2).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        weights[step] = {name: value.detach().clone() for name, value in model.state_dict().items()}
        on_step(step)
    return weights


@pytest.mark.parametrize("kind", ["GAN", "VAE"])
def test_each_kept_file_holds_the_weights_of_its_step_bit_for_bit(monitored, tmp_path, kind):
    torch.manual_seed(0)
    model = GAN() if kind == "GAN" else VAE()
    source, make_rows = (model, lambda real: model(torch.randn(64, 2))) if kind == "GAN" else (model.sample, model)
    run = monitored(clients(), checkpoints=tmp_path, keep=RULES)
    files = []

    def log(step):
        assert run.log(step, source) and run.wait(60)
        files.append(len(list(tmp_path.glob("*.safetensors"))))

    weights = steps_of(model, make_rows, log)
    assert max(files) <= 2 * len(RULES) and not run.troubles
    assert set(run.checkpoints) == set(RULES)
    for (metric, part), path in run.checkpoints.items():
        step = run.best(metric)[part]
        assert path.name == f"step-{step}.safetensors"
        kept = load_file(path)
        assert kept.keys() == weights[step].keys()
        assert all(torch.equal(kept[name], value) for name, value in weights[step].items())
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in run.checkpoints.values()}


def test_what_lightning_calls_keeps_the_state_of_the_whole_module(monitored, tmp_path):
    torch.manual_seed(0)
    model = VAE()
    run = monitored(clients(), checkpoints=tmp_path, keep=[("fid", "all")], state=model.state_dict)
    callback = nm.Monitor.lightning.__get__(type("", (), {"_live_run": run})())(model.sample)
    trainer = type("", (), {"is_global_zero": True, "callback_metrics": {}})()

    def log(step):
        trainer.global_step = step
        callback.on_train_batch_end(trainer)

    weights = steps_of(model, model, log)
    callback.on_train_end(trainer)
    assert run.wait(60)
    (path,) = run.checkpoints.values()
    kept = load_file(path)
    assert all(torch.equal(kept[name], value) for name, value in weights[run.best("fid")["all"]].items())


def test_lightning_itself_keeps_the_weights_of_its_steps(opened, tmp_path):
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False
            self.made, self.weights = GAN(), {}

        def training_step(self, batch, at):
            optimiser = self.optimizers()
            optimiser.zero_grad()
            self.manual_backward((self.made(batch).mean(dim=0) - batch.mean(dim=0)).square().sum())
            optimiser.step()
            self.weights[at + 1] = {name: value.detach().clone() for name, value in self.state_dict().items()}

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.2)

    torch.manual_seed(0)
    module, folder = Module(), tmp_path / "kept"
    run = opened(nm.Monitor, clients(), keep_all=True, checkpoints=folder, keep=RULES, state=module.state_dict)
    quiet = dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary", "enable_checkpointing"), False)
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", callbacks=[run.lightning(module.made)], **quiet)
    trainer.fit(module, torch.utils.data.DataLoader(torch.randn(240, 2), batch_size=20))
    assert run.wait(60)
    kept = {int(path.stem.rpartition("-")[2]): load_file(path) for path in folder.glob("*.safetensors")}
    assert kept and len(kept) <= 2 * len(RULES)
    for step, state in kept.items():
        assert all(torch.equal(state[name], value) for name, value in module.weights[step].items())


@pytest.mark.threads
def test_save_is_called_inside_log_and_discard_once_a_step_is_not_the_best(monitored):
    run, calls = monitored(clients()), []
    run.on_best(("fid", "all"), lambda step: calls.append(("save", step)), lambda step: calls.append(("discard", step)))
    for step, shift in enumerate((2.0, 1.0, 3.0, 0.0, np.nan)):
        rows = np.concatenate(list(clients().values())) + shift
        run.log(step, rows)
        assert calls[-1] == ("save", step)
        run.wait(60)
    assert calls == [
        ("save", 0), ("save", 1), ("discard", 0), ("save", 2), ("discard", 2), ("save", 3), ("discard", 1),
        ("save", 4), ("discard", 4),
    ]  # fmt: skip


def test_what_save_raises_is_told_and_its_seconds_count(monitored):
    run = monitored(clients())
    run.on_best(("kid", "avg"), lambda step: 1 / 0)
    with pytest.warns(UserWarning, match="step 0 was not saved"):
        run.log(0, np.zeros((9, 2)))
    assert run.wait(60) and any("ZeroDivisionError" in line for line in run.troubles)


@pytest.mark.parametrize(
    ("argument", "settings"),
    [
        ("checkpoints", {"keep": [("fid", "all")]}),
        ("checkpoints", {"state": dict}),
        ("state", {"checkpoints": "folder", "state": 3}),
        ("rule", {"checkpoints": "folder", "keep": ["fid"]}),
        ("metric", {"checkpoints": "folder", "keep": [("fidd", "all")]}),
        ("aggregate", {"checkpoints": "folder", "keep": [("fid", "every")]}),
    ],
)
def test_bad_settings_are_refused(monitored, tmp_path, argument, settings):
    if "checkpoints" in settings:
        settings = {**settings, "checkpoints": tmp_path / "folder"}
    with pytest.raises(InvalidInput, match=argument):
        monitored(clients(), **settings)


def test_a_function_without_a_state_is_refused(monitored, tmp_path):
    run = monitored(clients(), checkpoints=tmp_path, keep=[("fid", "all")])
    with pytest.raises(InvalidInput, match="no state dict"):
        run.log(0, lambda n, rng: rng.normal(size=(n, 2)))
