"""In Flower: its weighted mean of the clients' scores is score-avg, and score-all is made of their summaries."""

import os

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated.flower import KEY, Aggregation, evaluation

RNG = np.random.default_rng(4)
ROWS = [RNG.normal(k, 1, size=(n, 3)) for k, n in enumerate((40, 25, 60))]
METRICS = ("fid", "kid")


def generator(parameters):
    """What the parameters that Flower sends make: a mean and a scale."""
    return nm.Gaussian(parameters[0], float(parameters[1][0]))


PARAMETERS = [np.array([1.0, 0.8, 0.9]), np.array([1.3])]
THERE = nm.evaluate(ROWS, {"g": generator(PARAMETERS)}, METRICS, progress=False)


def check(told, loss):
    """Against evaluate on all rows in one place."""
    for metric in METRICS:
        values = THERE.values(metric)
        assert told[f"{metric}_avg"] == pytest.approx(values.avg[0], rel=1e-12)
        assert told[f"{metric}_all"] == pytest.approx(values.all[0], rel=1e-12)
        assert told[f"{metric}_mean"] == pytest.approx(values.avg[0], rel=1e-12)
        assert values.avg[0] - values.all[0] > 0.1  # the two are not the same number
    assert loss == pytest.approx(THERE.values("fid").avg[0], rel=1e-9)


def test_the_order_of_calls_without_flower():
    """A strategy calls every client, averages the losses by rows, and hands (rows, metrics) to the aggregation."""
    aggregation = Aggregation(lambda: {"g": generator(PARAMETERS)}, METRICS)
    returned = [evaluation(rows, generator(PARAMETERS), METRICS) for rows in ROWS]
    for loss, n, told in returned:
        assert type(loss) is float and type(n) is int and {type(v) for v in told.values()} <= {float, bytes}
    loss = sum(n * x for x, n, _ in returned) / sum(n for _, n, _ in returned)
    check(aggregation([(n, told) for _, n, told in returned]), loss)
    aggregation([(n, told) for _, n, told in returned[:2]])
    assert [len(scores.names) for scores in aggregation.scores] == [3, 2]


def test_several_generators_and_private_clients():
    two = {"a": nm.Gaussian([0.0] * 3), "b": nm.Gaussian([1.0] * 3)}
    private = nm.federated.Privacy(50.0, clip=6.0)
    returned = [evaluation(rows, two["a"], "fid", privacy=private) for rows in ROWS]
    assert [(loss, list(told)) for loss, _, told in returned] == [(0.0, [KEY])] * 3  # no score of the bare rows
    told = Aggregation(two, "fid")([(n, told) for _, n, told in returned])
    assert list(told) == ["a fid_avg", "a fid_all", "b fid_avg", "b fid_all"] and told["b fid_all"] < told["a fid_all"]


def test_what_is_no_answer_is_refused():
    good = evaluation(ROWS[0], ROWS[1], "fid")
    with pytest.raises(nm.InvalidInput, match=r"client 2 returned .*without 'nbmetrics'"):
        Aggregation({"g": ROWS[1]}, "fid")([good[1:], (3, {"fid": 1.0})])
    with pytest.raises(nm.InvalidInput, match="'Client 1'"):
        Aggregation({"g": ROWS[1]}, "fid")([(3, {KEY: b"no"})])


def test_a_strategy_of_flower_itself():
    common = pytest.importorskip("flwr.common", reason="flwr is not installed: it needs packaging < 26")
    strategy = pytest.importorskip("flwr.server.strategy", reason="flwr is not installed")
    averaged = strategy.FedAvg(evaluate_metrics_aggregation_fn=Aggregation({"g": generator(PARAMETERS)}, METRICS))
    status = common.Status(common.Code.OK, "")
    results = [
        (None, common.EvaluateRes(status, loss, n, told))
        for loss, n, told in (evaluation(rows, generator(PARAMETERS), METRICS) for rows in ROWS)
    ]
    loss, told = averaged.aggregate_evaluate(1, results, [])
    check(told, loss)


@pytest.mark.slow  # starts ray: some ten seconds
def test_a_simulation_of_flower():
    pytest.importorskip(
        "ray", reason="ray is not installed: pip install 'flwr[simulation]' in an environment of its own"
    )
    flwr = pytest.importorskip("flwr", reason="flwr is not installed: it needs packaging < 26")
    from flwr.client import ClientApp, NumPyClient
    from flwr.common import ndarrays_to_parameters
    from flwr.server import ServerApp, ServerAppComponents, ServerConfig
    from flwr.server.strategy import FedAvg

    assert flwr.__name__ == "flwr"
    os.environ.update(FLWR_TELEMETRY_ENABLED="0", RAY_USAGE_STATS_ENABLED="0")
    rows, metrics, made = ROWS, METRICS, generator

    class Hospital(NumPyClient):
        def __init__(self, position):
            self.position = position

        def fit(self, parameters, config):
            return parameters, len(rows[self.position]), {}

        def evaluate(self, parameters, config):
            return evaluation(rows[self.position], made(parameters), metrics)

    aggregation = Aggregation({"g": generator(PARAMETERS)}, METRICS)

    def server(context):
        strategy = FedAvg(
            min_available_clients=3,
            min_evaluate_clients=3,
            initial_parameters=ndarrays_to_parameters(PARAMETERS),
            evaluate_metrics_aggregation_fn=aggregation,
        )
        return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=1))

    def client(context):
        return Hospital(int(context.node_config["partition-id"])).to_client()

    flwr.simulation.run_simulation(
        ServerApp(server_fn=server),
        ClientApp(client_fn=client),
        num_supernodes=3,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
    (scores,) = aggregation.scores
    for metric in METRICS:
        assert scores.values(metric).all[0] == pytest.approx(THERE.values(metric).all[0], rel=1e-6)
        assert scores.values(metric).avg[0] == pytest.approx(THERE.values(metric).avg[0], rel=1e-6)
