"""What is public: every name of the package's lists, and what the classes among them say of their members."""

import inspect
from functools import cached_property
from importlib.util import find_spec
from types import FunctionType, ModuleType

import nbmetrics as nm

# The modules of the package that users write out.
SHELVES = ("metrics", "scene", "theory", "experiments", "figures", "datasets", "training", "federated")
SHELVES += ("torch",) if find_spec("torch") else ()
MEMBERS = (FunctionType, classmethod, staticmethod, property, cached_property)


def public():
    """{name after `nm.`: object}, without modules and the version."""
    named = {name: getattr(nm, name) for name in nm.__all__ if name != "__version__"}
    for shelf in SHELVES:
        named |= {f"{shelf}.{name}": getattr(getattr(nm, shelf), name) for name in getattr(nm, shelf).__all__}
    named |= {"federated.flower.evaluation": nm.federated.flower.evaluation}
    named |= {"federated.flower.Aggregation": nm.federated.flower.Aggregation}
    return {name: thing for name, thing in named.items() if not isinstance(thing, ModuleType)}


def docstrings():
    """{name: docstring} of what is public, and of the members of classes, those of their ancestors here included."""
    found = {}
    for name, thing in public().items():
        found[name] = inspect.getdoc(thing) or ""
        for base in thing.__mro__ if inspect.isclass(thing) else ():
            if base.__module__.startswith("nbmetrics."):
                members = {m: value for m, value in vars(base).items() if m[0] != "_" and isinstance(value, MEMBERS)}
                found |= {f"{base.__name__}.{m}": inspect.getdoc(value) or "" for m, value in members.items()}
    return found
