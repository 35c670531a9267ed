"""What the tests of the toolkit share: every lab, names that break out of careless pages, and a lab after an edit."""

import nbmetrics as nm
from tests import EVIL as IMAGE

LABS = ["Playground", "CorrelationLab", "TwinsLab", "MemorizationLab", "Dashboard", "Monitor", "PrivacyLab"]
# Those that are of a notebook's own data, and are not made of a share string alone.
OF_DATA = ("Dashboard", "Monitor")
# A Dashboard has no example of its own: what its code is run beside, exact distributions, so that its numbers come at
# once.
COMPARED = """import nbmetrics as nm
federation = nm.Federation([nm.Client(nm.Gaussian(mean), name=f"Client {weight}", weight=weight)
                            for weight, mean in enumerate([[0, 0], [2, 0], [0, 3]], 1)])
generators = {"Narrow": nm.Gaussian([0.5, 1]), "Wide": nm.Gaussian([0.5, 1], [1.5, 2]), "Off": nm.Gaussian([2, 2])}
"""
# A Monitor has no run of its own: one of few rows, kept in a folder, which its code opens.
RECORDED = """import tempfile
import numpy as np
import nbmetrics as nm
path, rng = tempfile.mkdtemp(), np.random.default_rng(0)
federation = nm.Federation([nm.Client(rng.normal(mean, 1.0, (40, 2)), name=f"Client {weight}", weight=weight)
                            for weight, mean in enumerate([[0, 0], [2, 0], [0, 3]], 1)])
run = nm.Monitor(federation, path=path, keep_all=True, samples=30)
for step in range(8):
    wide = 1 + (step - 5) ** 2 / 10 if step < 6 else 0.1
    run.log(100 * step, lambda n, rng: rng.normal([0.5, 1], wide, (n, 2)), loss=1 / (1 + step), critic=step)
run.wait()
run.close()
"""
EVIL = f"</script>{IMAGE}"
NAMES = [EVIL, "\"quoted\" & 'so' {{state}} <!--", "😀👩‍🔬", "עברית العربية", "$x_1$ 100 %", "a\u202eb\u200d\ue000"]
VIEW = "application/vnd.jupyter.widget-view+json"


def made(name):
    """A new lab of that class, as it starts."""
    of_data = {"Dashboard": compared, "Monitor": recorded}
    return of_data[name]() if name in of_data else getattr(nm, name)()


def compared():
    """The Dashboard of `COMPARED`, with all that it will know."""
    names: dict = {}
    exec(COMPARED, names)
    lab = nm.Dashboard(names["federation"], names["generators"])
    lab.wait()
    return lab


def recorded():
    """The Monitor of `RECORDED`."""
    names: dict = {}
    exec(RECORDED, names)
    return nm.Monitor.open(names["path"])


def evil_lab():
    clients = [nm.Client(nm.Gaussian([k, 0]), name=name) for k, name in enumerate(NAMES)]
    return nm.Playground(nm.Federation(clients), {name + "!": nm.Gaussian([0, k]) for k, name in enumerate(NAMES)})


def moved(lab):
    """The lab after one edit, whatever its scenes are: its second preset."""
    lab.scene = {**list(lab.presets.values())[1], "rev": lab.scene["rev"] + 1}
    return lab


def watched():
    """A Monitor of two clients and three steps."""
    clients = [nm.Client(nm.Gaussian([x, 0]), name=name) for name, x in (("a", 0), ("b", 2))]
    lab = nm.Monitor(nm.Federation(clients), keep_all=True)
    for step in (0, 200, 400):
        lab.log(step, nm.Gaussian([step / 200, 1]), loss=1.0)
    lab.wait()
    return lab
