"""A torch module is scored as it stands: the mode of every part, its statistics and torch's random stream stay."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import nbmetrics as nm

torch = pytest.importorskip("torch")
nn = torch.nn

X = np.random.default_rng(0).normal(size=(100, 2))


class Noisy(nn.Module):
    """Draws from torch's stream, drops out, and has batch statistics: all that evaluation must not let through."""

    latent_dim = 3

    def __init__(self, norm=None):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            self.linear = nn.Linear(3, 2)
        self.drop, self.norm = nn.Dropout(0.5), norm or nn.BatchNorm1d(2)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("largest", torch.zeros(3))

    def forward(self, z):
        self.calls += 1
        self.largest = torch.maximum(self.largest, z.max(dim=0).values)
        made = self.norm(self.drop(self.linear(z)))
        return made + 0.1 * torch.randn(made.shape)


def fid(module):
    scores = nm.evaluate([X], {"g": module}, ["fid"], samples=400, progress=False)
    return float(scores.table["avg"][0])


def state(module):
    held = {name: value.clone() for name, value in module.state_dict().items()}
    return held, [part.training for part in module.modules()], torch.get_rng_state()


def same(before, after):
    return (
        all(torch.equal(before[0][name], after[0][name]) for name in before[0])
        and before[1] == after[1]
        and torch.equal(before[2], after[2])
    )


@pytest.mark.parametrize("frozen", [[], ["norm"], ["drop", "norm"], ["linear"]])
@pytest.mark.parametrize("training", [True, False])
def test_every_part_keeps_its_own_mode(training, frozen):
    module = Noisy().train(training)
    for name in frozen:
        getattr(module, name).train(not training)
    before = state(module)
    first = fid(module)
    assert same(before, state(module))
    assert fid(module) == first


def test_parts_keep_their_mode_where_the_module_fails():
    class Failing(Noisy):
        def forward(self, z):
            raise ZeroDivisionError

    module = Failing().train()
    module.norm.eval()
    before = state(module)
    with pytest.raises(ZeroDivisionError):
        fid(module)
    assert same(before, state(module))


def test_a_module_with_modes_of_its_own_is_asked_for_evaluation_and_left_as_it_was():
    class Stubborn(Noisy):
        def train(self, mode=True):
            super().train(mode)
            self.norm.eval()
            return self

    module = Stubborn()
    module.norm.training = True
    before = state(module)
    fid(module)
    assert same(before, state(module))


@pytest.fixture
def _switching():
    """Threads give way to each other after a few bytecodes instead of every 5 ms."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_switching")
def test_threads_that_share_a_module_get_the_score_of_one():
    module = Noisy().train()
    module.norm.eval()
    alone, before = fid(module), state(module)
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(fid, [module] * 40))
    assert found == {alone}
    assert same(before, state(module))


@pytest.mark.usefixtures("_switching")
def test_threads_whose_modules_share_a_part_and_torchs_stream_get_the_scores_of_one():
    norm = nn.BatchNorm1d(2)
    modules = [Noisy(norm).train() for _ in range(4)]
    alone, before = fid(modules[0]), [state(m) for m in modules]
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(fid, modules * 10))
    assert found == {alone}
    assert all(same(b, state(m)) for b, m in zip(before, modules, strict=True))


class Wide(torch.nn.Module):
    latent_dim = 2

    def forward(self, latents):
        return 3.0 * latents


def test_a_wrapped_module_is_refused_with_the_way_to_the_generator():
    """The fix that the message gives works."""
    wrapped = torch.nn.DataParallel(Wide())
    with pytest.raises(nm.InvalidInput, match=r"DataParallel has no latent_dim\. Give its \.module, which has one"):
        nm.Generator(wrapped)
    nm.Generator(wrapped.module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of torch.jit
        scripted = torch.jit.script(Wide())
    with pytest.raises(nm.InvalidInput, match="TorchScript leaves out class attributes: set latent_dim on the script"):
        nm.Generator(scripted)
    scripted.latent_dim = 2
    assert nm.Generator(scripted).source(5, np.random.default_rng(0)).shape == (5, 2)


@pytest.mark.parametrize("latent_dim", [-1, 0, 2.0, "3", None, True])
def test_a_latent_dim_that_is_no_number_of_features_is_refused(latent_dim):
    module = Noisy()
    module.latent_dim = latent_dim
    with pytest.raises(nm.InvalidInput, match="latent_dim"):
        nm.Generator(module)


@pytest.mark.parametrize("give", [lambda z: (z, z), lambda z: [z], lambda z: {"rows": z}, lambda z: None])
def test_a_module_that_gives_no_tensor_is_refused(give):
    class Giving(nn.Module):
        latent_dim = 2

        def forward(self, z):
            return give(z)

    with pytest.raises(nm.InvalidInput, match="one tensor"):
        fid(Giving())


def test_latents_have_the_type_of_the_first_parameter_that_has_one():
    module = nn.Sequential(nn.ParameterList([nn.Parameter(torch.tensor([1, 2]), requires_grad=False)]), nn.Linear(3, 2))
    module.forward = lambda z: module[1](z)
    module.latent_dim = 3
    assert np.isfinite(fid(module))
    double = nn.Linear(3, 2, dtype=torch.float64)
    double.latent_dim = 3
    assert np.isfinite(fid(double))


def quantised():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch will drop such tensors one day
        return torch.quantize_per_tensor(torch.zeros(30, 2), 0.1, 0, torch.qint8)


@pytest.mark.parametrize(
    ("tensor", "seen"),
    [
        (torch.zeros((30, 2), device="meta"), "meta"),
        (quantised(), "quantized"),
        (torch.zeros(30, 2).to_sparse(), "sparse"),
        (torch.zeros(30, 2, dtype=torch.complex64), "complex"),
    ],
    ids=["meta", "quantised", "sparse", "complex"],
)
@pytest.mark.parametrize(
    "use",
    [
        lambda t: nm.fid(X, t),
        lambda t: nm.Client(t),
        lambda t: nm.evaluate([X], {"g": t}),
        lambda t: nm.Federation.from_labels(t, np.zeros(30)),
        lambda t: nm.KernelDensity(t, 1.0),
        lambda t: nm.Client(X[:30], test=t),
    ],
    ids=["fid", "client", "generator", "federation", "density", "test"],
)
def test_tensors_without_readable_numbers_are_refused(use, tensor, seen):
    with pytest.raises(nm.InvalidInput, match=seen):
        use(tensor)
    with pytest.raises(nm.InvalidInput):
        nm.Gaussian(tensor)
    with pytest.raises(nm.InvalidInput):
        nm.Gaussian([0.0, 0.0], tensor)


def test_tensors_that_need_a_gradient_are_read_like_others():
    mean, cov = torch.tensor([1.0, 2.0]), torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    plain, traced = nm.Gaussian(mean, cov), nm.Gaussian(mean.requires_grad_(), cov.requires_grad_())
    assert nm.fid(traced, plain) == pytest.approx(0, abs=1e-12)
    rows = torch.from_numpy(X)
    assert nm.fid(rows.clone().requires_grad_(), plain) == nm.fid(rows, plain)
    weights = torch.tensor([1.0, 3.0], requires_grad=True)
    assert nm.Federation([X, X + 1]).with_weights(weights).weights == (0.25, 0.75)
    labels = torch.zeros(100)
    assert len(nm.Federation.from_labels(X, labels.requires_grad_())) == 1
