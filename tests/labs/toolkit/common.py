"""What the tests of the toolkit share: every lab, names that break out of careless pages, and a lab after an edit."""

import nbmetrics as nm
from tests import EVIL as IMAGE

LABS = ["Playground", "CorrelationLab", "TwinsLab", "MemorizationLab"]
EVIL = f"</script>{IMAGE}"
NAMES = [EVIL, "\"quoted\" & 'so' {{state}} <!--", "😀👩‍🔬", "עברית العربية", "$x_1$ 100 %", "a\u202eb\u200d\ue000"]
VIEW = "application/vnd.jupyter.widget-view+json"


def evil_lab():
    clients = [nm.Client(nm.Gaussian([k, 0]), name=name) for k, name in enumerate(NAMES)]
    return nm.Playground(nm.Federation(clients), {name + "!": nm.Gaussian([0, k]) for k, name in enumerate(NAMES)})


def moved(lab):
    """The lab after one edit, whatever its scenes are: its second preset."""
    lab.scene = {**list(lab.presets.values())[1], "rev": lab.scene["rev"] + 1}
    return lab
