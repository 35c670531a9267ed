"""The labs in which the share strings of a release are opened: as they come, or of the data that it kept."""

import pandas as pd

import nbmetrics as nm
from tests.labs.inside import scene_of, state_kind
from tests.waiting import until

LABS = ("Playground", "CorrelationLab", "TwinsLab", "MemorizationLab", "Dashboard", "Monitor", "PrivacyLab")
DATA = "data.json"


def lab_of(name, of, release, folder):
    """A new lab of the class `name` with the data that the release calls `of`, "" for none.

    `folder` is an empty one, for a run of a Monitor.
    """
    if not of:
        return getattr(nm, name)()
    if name == "Monitor":
        return nm.Monitor.open(release.unpack(f"runs/{of}.zip", folder / of))
    given = release.read(DATA)[of]
    if of == "own lesson":
        return nm.Playground(lesson=given)
    if of == "table":
        return nm.Dashboard.from_table(pd.DataFrame(given["scores"], index=given["index"]), weights=given["weights"])
    if name == "PrivacyLab":
        settings = {key: given[key] for key in ("clip", "epsilons", "repeats")}
        return nm.PrivacyLab(given["clients"], given["generators"], "fid", **settings)
    clients, plane = given["clients"], given.get("plane")
    if name == "Dashboard":
        parts = [nm.Client(c["rows"], labels=c["labels"], name=c["name"], weight=c["weight"]) for c in clients]
        return nm.Dashboard(nm.Federation(parts), given["generators"])
    if columns := given.get("columns"):
        clients = {site: pd.DataFrame(rows, columns=columns) for site, rows in clients.items()}
    return nm.Playground(clients, given["generators"], plane=tuple(plane) if isinstance(plane, list) else plane)


def settle(lab):
    """Wait until a lab has all that its page needs to show the scene."""
    name = type(lab).__name__
    if name == "Dashboard":
        lab.wait()
        until(lambda: lab.board.get("regroup") == lab.scene["regroup"])
    elif name == "MemorizationLab":
        until(lambda: lab.base.get("key") == scene_of(lab).key)
    elif name == "Playground" and "plane" in lab.scene:
        until(lambda: lab.result["rev"] == lab.scene["rev"] and "scores" in lab.result)
    elif name in ("Monitor", "PrivacyLab"):
        until(lambda: lab.result["rev"] == lab.scene["rev"])


def content(scene):
    """A scene without the number of its revision, which sharing does not keep."""
    return {field: part for field, part in scene.items() if field != "rev"}


def lasting(lab, scene):
    """What of a kept scene a lab, or its class, still has: the fields that are not declared gone."""
    gone = {name for name, now in state_kind(lab).declared.get("aliases", {}).get("", {}).items() if now is None}
    return {field: part for field, part in scene.items() if field not in gone}


def differences(found, kept, where="scene"):
    """Where what was kept is not there, or is another: in words. A later release may have more fields."""
    if isinstance(kept, dict):
        if not isinstance(found, dict):
            return [f"{where} is {found!r}, and was {kept!r}"]
        lost = [f"{where}.{key} is lost" for key in kept if key not in found]
        return lost + [w for key in kept if key in found for w in differences(found[key], kept[key], f"{where}.{key}")]
    if isinstance(kept, list):
        if not isinstance(found, (list, tuple)) or len(found) != len(kept):
            return [f"{where} is {found!r}, and was {kept!r}"]
        return [w for k, (a, b) in enumerate(zip(found, kept)) for w in differences(a, b, f"{where}[{k}]")]
    is_same = found == kept and isinstance(found, bool) == isinstance(kept, bool)
    return [] if is_same else [f"{where} is {found!r}, and was {kept!r}"]
