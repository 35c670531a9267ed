"""What the fuzz tries on a Monitor and on training, in the tables' form of test_fuzz.

A Monitor scores on a thread of its own: whatever was handed over, it ends, says what it could not score, and its table
holds numbers, or NaN with a trouble or reason.
"""

import numpy as np

import nbmetrics as nm
from tests.fuzz_checks import anything

A, B = (np.random.default_rng(k).normal(size=(24, 2)) + k / 4 for k in range(2))


def make(n, rng):
    return rng.normal(size=(n, 2))


def monitored(act=lambda monitor: monitor.log(0, make), clients=(A, B), **options):
    """What is told of a Monitor once `act` was done to it."""
    monitor = nm.Monitor(clients, **{"samples": 5, "keep_all": True, **options})
    try:
        act(monitor)
        assert monitor.wait(60)
        for point in monitor._live_run.history.points:
            assert not point.is_scored or point.why or np.isfinite(point.clients).all()
            assert not point.is_by_client or point.why or np.isfinite(point.own).all()
            for errors in (point.errors, point.row_errors, point.own_errors, point.own_row_errors):
                assert errors is None or not (errors < 0).any()
        return monitor.table, monitor.losses, monitor.alarms, monitor.words, monitor.troubles, monitor.cost
    finally:
        monitor.close()


def logged(*given, **losses):
    return monitored(lambda monitor: monitor.log(*given, **losses))


def logged_by_client(clients, *made):
    """What is told of a step with one distribution for each client, and of the run under other weights."""
    names = nm.Federation(clients).names
    act = lambda monitor: monitor.log(0, dict(zip(names, made, strict=True)))  # noqa: E731
    asked_too = lambda monitor: [act(monitor), monitor.wait(60), monitor.with_weights([3, 1]).words]  # noqa: E731
    return monitored(asked_too, clients)


def asked(act):
    """`act` of a Monitor that has scored a step."""
    return monitored(lambda monitor: [monitor.log(0, make, d=1.0), monitor.wait(60), act(monitor)])


def trained(**options):
    """Refused in the end: no model here has three columns."""
    given = {"kind": "ddpm", "federation": [np.eye(3)], "rounds": 1, "local_steps": 1, **options}
    return nm.training.train(given.pop("kind"), given.pop("federation"), **given)


ON_ROWS = {
    "Monitor": (lambda a, b, c: logged(0, a), anything),
    "Monitor of clients": (lambda a, b, c: monitored(lambda monitor: monitor.log(0, c), [b, a]), anything),
    "Monitor by client": (lambda a, b, c: logged_by_client([b, c], a, c), anything),
    "Monitor of a function": (lambda a, b, c: logged(0, lambda n, rng: a), anything),
    "training": (lambda a, b, c: trained(federation=[a, np.eye(3)]), anything),
}
ON_SETTINGS = {
    "Monitor": lambda v: monitored(clients=v),
    "Monitor metrics": lambda v: monitored(metrics=v),
    "Monitor samples": lambda v: monitored(samples=v),
    "Monitor seed": lambda v: monitored(seed=v),
    "Monitor step": lambda v: logged(v),
    "Monitor source": lambda v: logged(0, v),
    "Monitor by client": lambda v: logged_by_client([A, B], v, B),
    "Monitor loss": lambda v: logged(0, d=v),
    "Monitor weights": lambda v: asked(lambda monitor: monitor.with_weights(v)),
    "Monitor best": lambda v: asked(lambda monitor: monitor.best(v)),
    "Monitor alarm": lambda v: asked(lambda monitor: monitor.alarm(v, rises=0.5)),
    "Monitor threshold": lambda v: asked(lambda monitor: monitor.alarm("d", falls=v)),
    "Monitor without an alarm": lambda v: asked(lambda monitor: monitor.remove_alarm(v)),
    "Monitor call": lambda v: asked(lambda monitor: monitor.alarm("d", rises=0.0, call=v)),
    "Monitor callback": lambda v: asked(lambda monitor: monitor.lightning(v).on_train_end),
    "Monitor every": lambda v: asked(lambda monitor: monitor.hugging_face(make, v)),
    "training": lambda v: trained(federation=v),
    **{f"training {name}": lambda v, name=name: trained(**{name: v})
       for name in ("kind", "rounds", "local_steps", "seed", "monitor", "start")},
}  # fmt: skip
