"""One thread for each test process, and the same examples in every run.

The matrices of the tests are small, and pytest-xdist fills the cores: threads of several BLAS and OpenMP pools that
wait for one another there make the tests take twice the time and more. It must be set before NumPy is imported.

Hypothesis tries the same examples each time, so that a commit passes or fails alike everywhere; to look for others:
HYPOTHESIS_PROFILE=search make test-python
"""

import os
import re
import sys
from functools import partial

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
# Its import builds a grammar of web addresses, seconds of a processor, for a format that no schema of nbformat has.
sys.modules.setdefault("rfc3987_syntax", None)

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config):
    config.stash[LEFT_OUT] = 0


# The servers and the page of JupyterLab take half a minute of a processor to start.
JUPYTERLAB = re.compile(r"\[[^\]]*jupyterlab|test_(frontends|reopened|saved_notebook|golden_notebook)\.py")


# All notebooks share a kernel and so a process, for a minute.
NOTEBOOKS = "test_notebooks.py"


def is_in_jupyterlab(nodeid):
    return JUPYTERLAB.search(nodeid) is not None


def is_long(item):
    return "browser" in item.keywords or NOTEBOOKS in item.nodeid


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """JupyterLab first, then other browser tests and the notebooks: what takes longest must not begin last.

    What a test proves of a place goes into the report of its run, for tests/places.py.
    """
    for item in items:
        item.user_properties += [(f"place {mark.args[0]}", mark.kwargs) for mark in item.iter_markers("place")]
    items.sort(key=lambda item: (not is_in_jupyterlab(item.nodeid), not is_long(item)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file of tests stays in one process, and so do all in JupyterLab and all of a cluster, which so start once."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            if is_in_jupyterlab(nodeid):
                return "jupyterlab"
            return "cluster" if nodeid.startswith("tests/cluster/") else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_deselected(items):
    for item in items:
        item.config.stash[LEFT_OUT] += "slow" in item.keywords


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Every process of pytest-xdist collects all tests, and so leaves out the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter, config):
    if count := config.stash[LEFT_OUT]:
        terminalreporter.write_line(f"SKIPPED {count} slow tests; make test-all runs them")


@pytest.fixture(autouse=True)
def threadless(request):
    """`make test-threadless`: each test runs where no thread can start, but for those that are about threads."""
    if os.environ.get("NBMETRICS_TEST_THREADLESS") != "1":
        yield
        return
    if request.node.get_closest_marker("threads"):
        pytest.skip("is about threads: make test-python runs it")
    from tests.threadless import without_threads

    with without_threads():
        yield


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory):
    """No test reads or fills the cache of whoever runs them; processes that tests start inherit it."""
    os.environ["NBMETRICS_HOME"] = str(tmp_path_factory.mktemp("nbmetrics"))


@pytest.fixture
def opened():
    """opened(kind, *args, **settings) -> a lab of that class, closed after the test."""
    labs = []

    def make(kind, *args, **settings):
        labs.append(kind(*args, **settings))
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()


@pytest.fixture
def memo_lab(opened):
    """memo_lab(*args, **settings) -> MemorizationLab, closed after the test."""
    import nbmetrics as nm

    return partial(opened, nm.MemorizationLab)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of a site with two labs and all lessons; notebooks, figures and docs take longer."""
    from website.build import build

    labs = ["Playground", "TwinsLab"]
    return build(tmp_path_factory.mktemp("built") / "site", only=labs, notebooks=False, figures=False, docs=False)
