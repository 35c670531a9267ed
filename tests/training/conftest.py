import pytest


@pytest.fixture(autouse=True)
def one_thread():
    """Bits depend on the number of threads."""
    torch = pytest.importorskip("torch", reason="pip install nbmetrics[images]")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
