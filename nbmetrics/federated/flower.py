"""Evaluation in Flower (flwr): what its clients return, and what its server makes of that. Flower is imported nowhere.

Flower averages what clients return, weighed by their rows: the mean of their scores is score-avg, and no mean of scores
is score-all. Summaries go along as bytes, which Flower passes on, and score-all is made of them:

    class Hospital(flwr.client.NumPyClient):
        def evaluate(self, parameters, config):
            return nm.federated.flower.evaluation(self.rows, generator_of(parameters), ("fid", "kid"))

    strategy = flwr.server.strategy.FedAvg(
        evaluate_metrics_aggregation_fn=nm.federated.flower.Aggregation(lambda: {"now": generator}, ("fid", "kid"))
    )
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import InvalidInput, check_list, check_number, shown
from ..evaluation.evaluate import evaluate
from ..evaluation.samples import metric_list
from ..evaluation.scores import Scores
from ..federation import Client
from ..metrics import Metric
from .client import client_summary
from .server import aggregate

# Where the bytes lie among a client's metrics.
KEY = "nbmetrics"
ClientResults = Iterable[tuple[int, Mapping[str, Any]]]


def evaluation(
    rows: Any,
    generated: Any,
    metrics: Any = ("fid", "kid"),
    *,
    samples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> tuple[float, int, dict[str, Any]]:
    """What a Flower client's `evaluate` returns: (loss, number of rows, metrics).

    Parameters
    ----------
    rows : the client's, or a `Client`
    generated : what is scored, made of the parameters received: rows, a distribution, or a function (n, rng) -> rows
    metrics, samples, seed : as for `evaluate`
    options : of `client_summary`. With `privacy` no score is returned, as a score of the bare rows would not be
        private: the loss is 0, and the server makes all scores of the summary

    Returns
    -------
    the loss is the score by the first metric, so that Flower's own mean of losses is score-avg; in the metrics each
    score is under its name, and the client's summary under "nbmetrics", as bytes

    Examples
    --------
    >>> rows = np.eye(3)[np.arange(60) % 3]
    >>> loss, n, told = nm.federated.flower.evaluation(rows, nm.Gaussian([0.0, 0.0, 0.0], 0.5), "fid")
    >>> n, sorted(told), round(loss - told["fid"], 9)
    (60, ['fid', 'nbmetrics'], 0.0)
    """
    client = rows if isinstance(rows, Client) else Client(rows)
    wanted = metric_list(metrics)
    sent = client_summary(client, wanted, **options)
    if options.get("privacy") is not None:
        return 0.0, client.size, {KEY: sent}
    scores = evaluate([client], {"generated": generated}, wanted, samples=samples, seed=seed, progress=False)
    scores_by_name = {metric.name: float(scores.values(metric.name).avg[0]) for metric in wanted}
    return scores_by_name[wanted[0].name], client.size, {**scores_by_name, KEY: sent}


class Aggregation:
    """A Flower server's `evaluate_metrics_aggregation_fn`: score-avg and score-all of what clients returned.

    Parameters
    ----------
    generators : as for `evaluate`, or a function without arguments that gives those of the present round
    metrics, samples, seed : as the clients have them

    Attributes
    ----------
    scores : list of `Scores`, one for each time it was called

    Called with Flower's list of (number of rows, metrics) it gives "fid_avg", "fid_all", … (of several generators
    "<name> fid_avg", …), and "fid_mean", Flower's weighted mean of the scores that clients sent: equal to "fid_avg".

    Examples
    --------
    >>> rows, generator = np.eye(3)[np.arange(60) % 3], nm.Gaussian([0.0, 0.0, 0.0], 0.5)
    >>> hospitals = [rows, 2 * rows]
    >>> told = [nm.federated.flower.evaluation(rows, generator, "fid")[1:] for rows in hospitals]
    >>> made = nm.federated.flower.Aggregation({"g": generator}, "fid")(told)
    >>> {name: round(value, 3) for name, value in made.items()}
    {'fid_mean': 1.558, 'fid_avg': 1.558, 'fid_all': 1.012}
    """

    def __init__(
        self, generators: Any, metrics: Any = ("fid", "kid"), *, samples: int | None = None, seed: int = 0
    ) -> None:
        self._generators, self._metrics = generators, metrics
        self._settings: dict[str, Any] = {"samples": samples, "seed": seed}
        self.scores: list[Scores] = []

    def __call__(self, results: ClientResults) -> dict[str, float]:
        """The scores of one round; InvalidInput for a client that sent no summary."""
        client_results = [_client_result(k, item) for k, item in enumerate(check_list(results, "results"), 1)]
        generators = self._generators() if _is_call(self._generators) else self._generators
        wanted, counts = metric_list(self._metrics), [n for n, _ in client_results]
        scores = aggregate([m[KEY] for _, m in client_results], counts, generators, wanted, **self._settings)
        self.scores.append(scores)
        means = {
            f"{m.name}_mean": _weighted_mean(m, client_results)
            for m in wanted
            if all(m.name in metrics for _, metrics in client_results)
        }
        for metric in scores.metrics:
            values = scores.values(metric)
            for g, name in enumerate(scores.generators):
                who = "" if len(scores.generators) == 1 else f"{name} "
                means |= {f"{who}{metric}_avg": float(values.avg[g]), f"{who}{metric}_all": float(values.all[g])}
        return means


def _client_result(k: int, item: Any) -> tuple[float, Mapping[str, Any]]:
    """Return what one client returned: its number of rows, and its metrics with a summary."""
    fix = "Let clients return the result of nm.federated.flower.evaluation"
    if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[1], Mapping):
        raise InvalidInput("results", f"client {k} returned {shown(item)}", fix)
    if KEY not in item[1]:
        raise InvalidInput("results", f"client {k} returned {shown(list(item[1]))}, without {KEY!r}", fix)
    return check_number(item[0], "results", minimum=0), item[1]


def _is_call(generators: Any) -> bool:
    return isinstance(generators, Callable) and not hasattr(generators, "sample")  # type: ignore[arg-type]


def _weighted_mean(metric: Metric[Any], client_results: list[tuple[float, Mapping[str, Any]]]) -> float:
    """Return Flower's weighted mean of a metric."""
    return sum(n * float(metrics[metric.name]) for n, metrics in client_results) / sum(n for n, _ in client_results)
