"""Settings of a process, such as autocast, change no bit of a number; the entries and settings are in ambient.py."""

import io

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.errors import encodable
from nbmetrics.evaluation.two_sample import TwoSampleTest
from tests import ambient
from tests.slow import by_default

SETTINGS = [*ambient.SETTINGS, *ambient.PROCESSES]
QUICK = [
    setting
    for setting in ("np.seterr", "autocast bfloat16", "default float64", "inference mode", "default device meta")
    if setting in SETTINGS
]


@pytest.fixture(scope="module")
def telling():
    return ambient.plain(ambient.TELLING)


@pytest.fixture(scope="module")
def expected():
    return ambient.plain(ambient.entries())


def test_entries_have_numbers(telling):
    errors = {name: text for name, text in telling.items() if len(text) != 16}
    assert not errors and len(telling) > 5


@pytest.mark.parametrize("setting", by_default(SETTINGS, *QUICK))
def test_a_setting_changes_no_telling_number(setting, telling):
    assert ambient.different(telling, setting, telling) == {}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_changes_no_number(setting, expected):
    assert {name: text for name, text in expected.items() if len(text) != 16} == {}
    assert ambient.different(expected, setting, expected) == {}


@pytest.mark.parametrize("setting", ["autocast bfloat16", "products in bfloat16"])
def test_rows_in_the_cache_are_those_of_float32(setting, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    monkeypatch.setenv("NBMETRICS_HOME", str(tmp_path))
    images, network = ambient.images()[0], ambient.network()
    with ambient.SETTINGS[setting]():
        first = nm.extract(images, network)
    assert len(list(tmp_path.rglob("*"))) > 1
    assert np.array_equal(first, nm.extract(images, network, cache=False))
    assert np.array_equal(nm.extract(images, network), first)


def test_a_module_that_makes_rows_is_the_users_own():
    """Documented: a generator runs under the settings of whoever calls, as any code of theirs."""
    torch = pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    module = torch.nn.Linear(4, 3)
    module.latent_dim = 4
    real = np.random.default_rng(0).normal(size=(50, 3))

    def score():
        return nm.evaluate({"a": real}, {"g": module}, "fid", samples=100).table["avg"][0]

    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = score()
    assert inside != score() and inside == pytest.approx(score(), rel=0.05)


def test_settings_of_the_process_are_the_users_again():
    torch = pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    from nbmetrics.arrays import float32_by_default, full_precision, plain_torch, product

    rows = ambient.rows("torch")["x"]
    expected = rows @ rows.T

    with ambient.SETTINGS["products in bfloat16"](), ambient.SETTINGS["default float64"](), torch.device("meta"):
        with plain_torch(), float32_by_default:
            with full_precision:  # one holder more
                pass
            assert torch.equal(product(rows, rows.T), expected) and torch.equal(rows @ rows.T, expected)
            assert torch.zeros(1).dtype == torch.float32 and torch.zeros(1).device.type == "cpu"
        assert torch.get_float32_matmul_precision() == "medium"
        assert torch.zeros(1).dtype == torch.float64 and torch.zeros(1).is_meta


def test_what_stdout_cannot_write_becomes_a_question_mark(monkeypatch):
    """In a process with such a stdout, "cp1252" above, everything that people print is printed."""
    text = "MMD² ≤ γ · é"
    for encoding, shown in {"utf-8": text, "cp1252": "MMD² ? ? · é", "ascii": "MMD? ? ? ? ?"}.items():
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding))
        assert encodable(text) == shown
        assert repr(TwoSampleTest(0.5, 0.25, text)) == f"TwoSampleTest(statistic=0.5, p=0.25, convention='{shown}')"
