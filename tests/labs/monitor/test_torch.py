"""Training in PyTorch goes on bit for bit as it would without a recording."""

from functools import partial

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.labs.monitor.live_run import LiveRun

torch = pytest.importorskip("torch", reason="modules are PyTorch's")
STEPS = 12


class Net(torch.nn.Module):
    """A generator whose training draws numbers and moves buffers, and which draws and writes buffers in evaluation."""

    latent_dim = 3

    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8)
        self.drop, self.last = torch.nn.Dropout(0.5), torch.nn.Linear(8, 2)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, z):
        noise = torch.randn(len(z), 2)
        self.calls += 1
        self.mean = 0.9 * self.mean + 0.1 * z.mean(dim=0)
        return self.last(self.drop(self.norm(self.first(z)))) + 0.1 * noise

    def sample(self, n, rng):
        return self(torch.from_numpy(rng.normal(size=(n, 3)).astype(np.float32)))

    def sample_of(self, client, n, rng):
        return self.sample(n, rng) + float(client == "b")


def trained(hand_over):
    """Every number that a small training makes, with `hand_over(step, net, loss)` after each step."""
    torch.manual_seed(0)
    net = Net()
    net.first.eval()  # one part is frozen, and stays so
    optimiser, losses = torch.optim.Adam(net.parameters()), []
    for step in range(STEPS):
        loss = (net(torch.randn(16, 3)) - torch.randn(16, 2)).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.detach().clone())
        hand_over(step, net, loss)
    return [*net.state_dict().values(), *losses, torch.get_rng_state()], [part.training for part in net.modules()]


@pytest.fixture
def monitor(opened):
    rng = np.random.default_rng(0)
    clients = {"a": rng.normal(size=(40, 2)), "b": rng.normal(1, 1, (40, 2))}
    return opened(LiveRun, clients, "fid", keep_all=True, samples=50)


SOURCES = {
    "a module": lambda net: net,
    "its method": lambda net: net.sample,
    "rows": lambda net: net.last.weight.T,  # which the optimiser changes in place
    "its method by client": lambda net: nm.Generator.by_client(net.sample_of),
    "a module for each client": lambda net: {"a": net, "b": net.sample},
    "rows by client": lambda net: {"a": net.last.weight.T, "b": net.last.weight.T},
}


@pytest.mark.parametrize("source", SOURCES)
def test_training_is_bitwise_the_same_with_a_monitor(monitor, source):
    plain, modes = trained(lambda step, net, loss: None)
    found, found_modes = trained(lambda step, net, loss: monitor.log(step, SOURCES[source](net), loss=loss))
    assert all(torch.equal(a, b) for a, b in zip(found, plain, strict=True)) and modes == found_modes
    assert monitor.wait(60) and set(monitor.table["metric"]) >= {"fid"}
    table = monitor.table.query("metric == 'fid'")
    assert table["step"].tolist() == list(range(STEPS)) and np.isfinite(table["all"]).all()
    if "client" in source:
        assert np.isfinite(monitor.history.lines["fid_intra"].avg).all()
    assert monitor.losses["loss"].tolist() == [float(loss) for loss in plain[-STEPS - 1 : -1]]


def test_a_module_that_does_not_change_scores_the_same_at_every_step(monitor):
    torch.manual_seed(1)
    net = Net()
    for step, source in enumerate((net, net, net.sample, net.sample, partial(Net.sample, net.eval()))):
        torch.rand(step)
        assert monitor.log(step, source)
    assert monitor.wait(60)
    first, second, third, fourth, fifth = monitor.table["all"]
    assert first == second and third == fourth == fifth


def test_what_a_module_makes_for_each_client_is_of_latents_of_its_own_and_the_same_at_every_step(monitor):
    torch.manual_seed(1)
    net, seen = Net(), []

    def source(client, n, rng):
        seen.append(torch.rand(2).tolist())
        return rng.normal(size=(n, 2))

    sources = [{"a": net, "b": net.sample}] * 2 + [nm.Generator.by_client(net.sample_of)] * 2
    for step, each in enumerate([*sources, *[nm.Generator.by_client(source)] * 2]):
        torch.rand(step)
        assert monitor.log(step, each)
    assert monitor.wait(60)
    intra = monitor.history.lines["fid_intra"].avg
    assert (intra[::2] == intra[1::2]).all() and len(set(intra)) == 3
    assert seen[:2] == seen[2:] and seen[0] != seen[1]
