"""Callbacks log what a trainer shows them and nothing else; a run comes back from TensorBoard's files."""

import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics import InvalidInput

RNG = np.random.default_rng(0)
CLIENTS = {"north": RNG.normal(-1, 1, (50, 2)), "south": RNG.normal(1, 1, (40, 2))}
# Asked of every callback, in this order, by lightning 2.6 (setup … on_fit_start) and transformers 5.23 (on_init_end).
ASKED = ("setup", "on_fit_start", "on_init_end", "on_train_start", "on_train_begin", "on_epoch_begin", "on_exception")


def make(n, rng):
    return rng.normal(size=(n, 2))


@pytest.fixture
def monitor(opened):
    return opened(lambda: nm.Monitor(CLIENTS, keep_all=True, samples=20))


def ask(callback, *given):
    for name in ASKED:
        assert getattr(callback, name)(*given, model=None) is None
    with pytest.raises(AttributeError):
        callback.anything_else  # noqa: B018


def test_lightning_logs_every_so_many_steps_and_the_last(monitor):
    callback = monitor.lightning(make, every=4)
    scalar = SimpleNamespace(detach=lambda: scalar, clone=lambda: 0.5, ndim=0)
    metrics = {"loss": scalar, "step": 1.0, "wide": np.zeros(3), "told": True, "": 1.0, "lr": 0.1}
    trainer = SimpleNamespace(is_global_zero=True, global_step=0, callback_metrics=metrics)
    ask(callback, trainer, None)
    for step in range(1, 11):
        trainer.global_step = step
        callback.on_train_batch_end(trainer, None, None, None, step)
    other = SimpleNamespace(is_global_zero=False, global_step=99, callback_metrics={})
    callback.on_train_batch_end(other, None, None, None, 0)
    callback.on_train_end(other, None)
    callback.on_train_end(trainer, None)
    assert monitor.wait(60)
    assert monitor.table["step"].unique().tolist() == [1, 5, 9, 10]
    assert monitor.losses.to_dict("list") == {"step": [1, 5, 9, 10], "loss": [0.5] * 4, "lr": [0.1] * 4}
    assert callback.state_dict() == {} and callback.load_state_dict({}) is None
    assert callback.state_key != monitor.lightning(make).state_key


def test_hugging_face_logs_losses_when_it_is_told_them(monitor):
    callback = monitor.hugging_face(make, every=5)
    state = SimpleNamespace(is_world_process_zero=True, global_step=0)
    ask(callback, None, state, None)
    for step in range(1, 11):
        state.global_step = step
        callback.on_step_end(None, state, None, model=None)
        if step % 4 == 0:
            callback.on_log(None, state, None, logs={"loss": 1.0 / step, "epoch": "one"}, model=None)
    callback.on_log(None, state, None, logs={"train_runtime": 3.0, "train_loss": 0.1}, model=None)
    callback.on_train_end(None, state, None, model=None)
    assert monitor.wait(60)
    assert monitor.table["step"].unique().tolist() == [1, 6, 10]
    assert monitor.losses.to_dict("list") == {"step": [4, 8], "loss": [0.25, 0.125]}


@pytest.mark.parametrize("kind", ["lightning", "hugging_face"])
def test_a_callback_refuses_at_once_what_a_trainer_would_find_late(monitor, kind):
    for source, every, argument in ((np.zeros((3, 5)), 1, "source"), (make, 0, "every"), (make, "often", "every")):
        with pytest.raises(InvalidInput, match=argument):
            getattr(monitor, kind)(source, every)


def test_lightning_itself_trains_to_the_same_bits_with_it(monitor, tmp_path):
    lightning = pytest.importorskip("lightning")
    import torch

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
            self.net.latent_dim = 2

        def training_step(self, batch, _):
            loss = (self.net(batch) ** 2).mean()
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    def trained(callbacks):
        torch.manual_seed(0)
        model, quiet = Model(), dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary"), False)
        trainer = lightning.Trainer(
            max_epochs=2, accelerator="cpu", default_root_dir=tmp_path, callbacks=callbacks(model), **quiet
        )
        trainer.fit(model, torch.utils.data.DataLoader(torch.randn(12, 2), batch_size=2))
        return torch.cat([part.flatten() for part in model.parameters()])

    alone = trained(lambda model: [])
    assert torch.equal(alone, trained(lambda model: [monitor.lightning(model.net, every=5)]))
    assert monitor.wait(60) and monitor.table["step"].unique().tolist() == [1, 6, 11, 12]
    assert np.isfinite(monitor.losses["loss"]).all() and not monitor.troubles


@pytest.fixture
def run(monitor):
    for step in range(4):
        monitor.log(step, make, **({"d": np.inf} if step == 2 else {"g": float(step)}))
    assert monitor.wait(60)
    return monitor


def test_tensorboard_gets_every_number_at_its_step_and_time(run, tmp_path, monkeypatch):
    found = {}

    class Writer:
        def __init__(self, folder):
            found["folder"] = folder

        def add_scalar(self, tag, value, step, *, wall_time, description=None):
            found.setdefault(tag, []).append((step, value, wall_time, description))

        def close(self):
            found["closed"] = True

    fake = ModuleType("tensorboard")
    fake.__spec__, fake.summary = SimpleNamespace(), SimpleNamespace(Writer=Writer)
    monkeypatch.setitem(sys.modules, "tensorboard", fake)
    monkeypatch.setitem(sys.modules, "tensorboard.summary", fake.summary)
    assert str(run.to_tensorboard(tmp_path / "new")) == found["folder"] and found["closed"]
    table = run.table[run.table["metric"] == "kid"]
    for part in ("avg", "all", "gap"):
        assert [line[1] for line in found[f"kid/{part}"]] == table[part].tolist()
    scores = run.scores.query("metric == 'fid' and client == 'south'").value
    assert [line[1] for line in found["fid of clients/south"]] == scores.tolist()
    assert [line[:2] for line in found["losses/g"]] == [(0, 0.0), (1, 1.0), (3, 3.0)]
    times = [point.time for point in run._live_run.history.points]
    assert found["losses/d"] == [(2, np.inf, times[2], None)]
    assert found["alarms/not finite"] == [(2, 1.0, times[2], "The loss 'd' is inf.")]
    (tmp_path / "new").mkdir(exist_ok=True)
    (tmp_path / "new" / "file").touch()
    with pytest.raises(InvalidInput, match=r"folder.*not empty"):
        run.to_tensorboard(tmp_path / "new")


def test_tensorboard_itself_reads_them_and_its_absence_is_told(run, tmp_path):
    if not importlib.util.find_spec("tensorboard"):
        with pytest.raises(InvalidInput, match="pip install tensorboard"):
            run.to_tensorboard(tmp_path / "new")
        return
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(run.to_tensorboard(tmp_path / "new")))
    read.Reload()
    seen = [event.tensor_proto.float_val[0] for event in read.Tensors("fid/avg")]
    np.testing.assert_allclose(seen, run.table[run.table["metric"] == "fid"]["avg"], rtol=1e-6)
