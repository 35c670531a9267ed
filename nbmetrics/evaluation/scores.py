"""Scores: what evaluate() returns. Aggregates, ranks, the pairs they order differently, and what it costs to know.

avg = Σ λ_i D(S_i, S_G)      all = D(pool(S_i), S_G)      gap = avg − all
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import check_choice, check_flag, check_named_weights, encodable
from ..files import checked_path, write
from ..lazy_imports import import_room
from ..ranking import places
from . import decisions, export, models, saved_scores, sentences
from .cells import Cells, Values
from .display import as_html, as_text, with_notes
from .heterogeneity import check_deals, heterogeneity
from .mode_influence import disagreement
from .model_tables import ModelTables
from .modes import FLOOR, modes
from .provenance import version_line
from .winners import below_zero_cautions

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Scores(ModelTables):
    """The scores of generators on a federation.

    Attributes
    ----------
    table : DataFrame generator, metric, avg, all, gap; and intra where some generator has one distribution a client
    clients : DataFrame generator, client, metric, value; and own, with what was made for the client, beside intra
    ledger : DataFrame client, metric, aggregate, bytes, …: what each client sends for each aggregate
    groups : of each generator the model that it is a run of (`nm.Generator(…, group="ddpm")`), or None
    provenance : dict, where they come from: version of nbmetrics, date (UTC), settings, metrics, extractor with the
        hash of its weights, and numbers of rows; of an `evaluate` with a store how many scores were found there, too

    Examples
    --------
    >>> clients = [nm.Gaussian([-1, 0]), nm.Gaussian([1, 0])]
    >>> scores = nm.evaluate(clients, {"wide": nm.Gaussian([0, 0], [2, 1])}, "fid")
    >>> print(scores.table.round(3))
      generator metric    avg  all    gap
    0      wide    fid  1.172  0.0  1.172
    """

    def __init__(
        self,
        names: Sequence[str],
        weights: Sequence[float],
        generators: Sequence[str],
        results: Sequence[Cells],
        convention: str,
        provenance: Mapping[str, Any] | None = None,
        groups: Sequence[str | None] = (),
    ) -> None:
        self.names = tuple(names)
        self.weights = tuple(weights)
        self.generators = tuple(generators)
        self.groups = tuple(groups) or (None,) * len(self.generators)
        self.metrics = tuple([cells.metric.name for cells in results])
        self._results = tuple(results)
        self._convention = convention
        self.provenance = dict(provenance or {})

    @cached_property
    def table(self) -> pd.DataFrame:
        """Tidy scores: generator, metric, avg, all, gap; and group where some generators are runs of one model.

        Where some generator has one distribution for each client (`nm.Generator.by_client`), intra = Σ λ_i D(S_i,
        S_G,i) stands before avg; of the other generators it is avg.

        With uncertainty also `*_corrected`, each without the bias of few rows where that can be taken off, and the
        ends `*_low` and `*_high` of the interval about it.
        `attrs["conventions"]` says how they were made.

        Examples
        --------
        >>> scores = nm.evaluate([[[0.0], [2.0]], [[2.0], [4.0]]], {"g": [[1.0], [3.0]]}, "fid")
        >>> scores.table.round(3)
          generator metric  avg    all    gap
        0         g    fid  1.0  0.048  0.952
        """
        import pandas as pd

        frames, group = [], {"group": self.groups} if any(self.groups) else {}
        for metric, cells in zip(self.metrics, self._results, strict=True):
            avg, pooled = cells.avg, cells.all
            intra = {"intra": cells.intra} if cells.own_cells else {}
            columns = {"generator": self.generators, **group, "metric": metric, **intra, "avg": avg}
            gap = np.subtract(avg, pooled, out=np.zeros_like(avg), where=avg != pooled)
            ends = {} if cells.noise is None else cells.intervals()
            frames.append(pd.DataFrame({**columns, "all": pooled, "gap": gap, **ends}))
        table = pd.concat(frames, ignore_index=True)
        return self._with_conventions(table)

    def values(self, metric: str) -> Values:
        """The scores of one metric as arrays, in the order of `generators` and `names`."""
        cells = self.result(metric)
        return Values(cells.avg.copy(), cells.all.copy(), cells.by_client.copy())

    def losses(self, metric: str) -> Values:
        """`values` as what generators are ranked by, lower is better: as they are, negated, or off the best."""
        return Values(*map(self.result(metric).losses, self.values(metric)))

    @property
    def conventions(self) -> list[str]:
        """How the numbers were made, one line a metric."""
        lines = [cells.convention for cells in self._results]
        designs: dict[str, list[str]] = {}
        for cells in self._results:
            if cells.noise is not None and cells.noise.design:
                designs.setdefault(str(cells.noise.design), []).append(cells.label)
        lines += [f"Intervals of {', '.join(labels)}: {design}" for design, labels in designs.items()]
        return [*filter(None, [*lines, *version_line(self.provenance), self._convention]), *self.cautions]

    @property
    def cautions(self) -> list[str]:
        """What is to be known before a number is believed: bias, missing values and why, gaps that are sample size."""
        lines: list[str] = []
        for cells in self._results:
            lines += [*cells.cautions, *cells.refusals(self.names, self.generators), *cells.remarks()]
            lines += cells.size_gap_caution(self.generators)
            lines += [] if cells.noise is None else below_zero_cautions(cells, self.generators)
        return lines

    @cached_property
    def clients(self) -> pd.DataFrame:
        """Tidy scores client by client: generator, client, metric, value; with uncertainty corrected, low and high.

        Where some generator has one distribution for each client, own is the score with what was made for the client.
        """
        import pandas as pd

        frames = []
        for cells in self._results:
            pairs = [(g, c, cells.name) for g in self.generators for c in self.names]
            rows = pd.DataFrame(pairs, columns=["generator", "client", "metric"]).assign(value=cells.by_client.ravel())
            own = {"own": cells.own.ravel()} if cells.own_cells else {}
            if any(self.groups):
                rows.insert(1, "group", np.repeat(np.array(self.groups, dtype=object), len(self.names)))
            frames.append(rows.assign(**own, **cells.client_intervals()))
        frame = pd.concat(frames, ignore_index=True)
        return self._with_conventions(frame)

    def ranks(self, metric: str, corrected: bool = False) -> pd.DataFrame:
        """Places of the generators by avg and by all: generator, avg, all (1 = best; ties share the best place).

        They are the places of the plain scores. With uncertainty the table marks the best of the `corrected` ones,
        where all generators have one. C_T is best near 0, and ranked by its distance from there.

        Examples
        --------
        >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
        >>> generators = {"narrow": nm.Gaussian([0, 0], [1, 1]), "wide": nm.Gaussian([0, 0], [2, 1])}
        >>> nm.evaluate(clients, generators).ranks("fid")
          generator  avg  all
        0    narrow    1    2
        1      wide    2    1
        """
        import pandas as pd

        by = decisions.losses_of(self, metric, corrected).by_aggregate
        columns = {part: places(losses) for part, losses in by.items()}
        return self._with_conventions(pd.DataFrame({"generator": self.generators, **columns}))

    def _with_conventions(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame.attrs["conventions"] = self.conventions
        return frame

    def inversions(
        self, metric: str, corrected: bool = False, *, between: Sequence[str] = ("avg", "all")
    ) -> pd.DataFrame:
        """The pairs of generators that avg and all order differently, by the plain scores or the `corrected` ones.

        `between` : two others, such as ("intra", "all"), after which the columns are called then.
        Columns: `avg_prefers`, `all_prefers` (generator names), and by how much: `avg_margin`, `all_margin` > 0.

        Examples
        --------
        >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
        >>> generators = {"narrow": nm.Gaussian([0, 0], [1, 1]), "wide": nm.Gaussian([0, 0], [2, 1])}
        >>> nm.evaluate(clients, generators).inversions("fid")[["avg_prefers", "all_prefers"]]
          avg_prefers all_prefers
        0      narrow        wide
        """
        return self._with_conventions(decisions.inversions(self, metric, corrected, between))

    def flips(self, metric: str) -> pd.DataFrame:
        """How easily chance alone orders each pair of generators as they are: one-sided p-values; needs `uncertainty`.

        Columns: `avg_prefers`, `over` (generator names) and `avg_p`, Φ(−|difference|/standard error); `all_prefers` and
        `all_p` likewise for all, and `intra_prefers` and `intra_p` for intra where there is one. The order is that of
        the corrected scores, so no p is above ½; it is NaN, and the order that of the plain scores, where rows are too
        few for corrected ones. Where a plain score is NaN too, nothing is preferred ("–", and `over` names both where
        avg has none).

        The p-values are one-sided and not adjusted for the number of pairs. As the side is that of the data, two
        equally good generators have one below .05 in a tenth of all runs. It is not the probability that the order is
        wrong: where generators are close, as checkpoints of one run are, that is larger. Nor does it know a kind of
        rows that was seldom drawn: with 2 % of them far away, a fifth of runs had one below .05 (docs/intervals.md).
        """
        frame = self._with_conventions(decisions.flips(self, metric))
        frame.attrs["conventions"] = [models.count_of_flips(self, metric), *self.conventions]
        return frame

    def worst(self, metric: str, corrected: bool = False) -> pd.DataFrame:
        """Each generator's score with the client it serves worst: generator, worst, client.

        Of a generator with one distribution for each client it is the score with what was made for that client. A
        client of weight 0 does not count, and the first of equals is named; NaN and "–" where a score is NaN. They are
        the plain scores, in which FID makes clients of few rows look worse. `corrected` ones are without that bias, as
        a Dashboard has them; they need `uncertainty`, and are NaN where a client, which a Dashboard then leaves out,
        has too few rows.

        Examples
        --------
        >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
        >>> nm.evaluate(clients, {"left": nm.Gaussian([-1, 0]), "between": nm.Gaussian([0, 0])}).worst("fid")
          generator  worst client
        0      left    4.0  south
        1   between    1.0  north
        """
        return self._with_conventions(decisions.worst(self, metric, corrected))

    def regret(self, metric: str, corrected: bool = False) -> pd.DataFrame:
        """What each client loses if all get one generator, instead of the one that is best for it.

        Columns: `client`; `own_best`, the best score that any generator has with it; `by_avg`, `by_all`, `by_worst`:
        how much worse, 0 or more, the client is served by the generator that is best by avg, by all, or with the
        client it serves worst. `attrs["winners"]` names these three, `attrs["own"]` each client's own best; of equals
        the first. Where some generator has one distribution for each client there is `by_intra`, too, and a client's
        score is that with what was made for it. NaN where the score that it takes is NaN. `corrected` as for `worst`.

        Examples
        --------
        >>> clients = {"north": nm.Gaussian([-1, 0]), "south": nm.Gaussian([1, 0])}
        >>> regret = nm.evaluate(clients, {"left": nm.Gaussian([-1, 0]), "between": nm.Gaussian([0, 0])}).regret("fid")
        >>> regret
          client  own_best  by_avg  by_all  by_worst
        0  north       0.0     1.0     1.0       1.0
        1  south       1.0     0.0     0.0       0.0
        >>> regret.attrs["winners"]
        {'avg': 'between', 'all': 'between', 'worst': 'between'}
        """
        return self._with_conventions(decisions.regret(self, metric, corrected))

    def heterogeneity(self, metric: str = "fid", shuffles: int = 19, seed: int = 0) -> pd.DataFrame:
        """Is the gap of FID heterogeneity of the clients, or the number of their rows?

        The rows are dealt to the clients at random, sizes and weights kept: what gap is left then is sample size.
        If all rows are independent draws of one distribution, every deal is as likely as the one given, so both
        p-values hold for any number of rows, dimension and weights; p if the generators do not depend on which client
        holds what.

        Parameters
        ----------
        metric : "fid" or "fid_infinity", as evaluated
        shuffles : deals for the FID gap, at most 100,000, and 100,000,000 over the rows of all clients; the smallest p
            is 1/(shuffles + 1)
        seed : of the deals

        Returns
        -------
        DataFrame, one row a generator:

        - generator
        - gap, of FID: avg − all
        - shuffled: its mean over the deals. gap − shuffled is no estimate of heterogeneity: it is too small.
        - debiased, debiased_low, debiased_high: debiased FID-avg − debiased FID-all and its 90 % interval, the
          estimate of heterogeneity; NaN where there is no interval, as clients or generators have too few rows or too
          long tails (`attrs["conventions"]` says who)
        - p: how many of the deals and the gap itself have at least this gap
        - p_kid: the same of the gap of KID (unbiased, cubic kernel about the mean of all rows), in which no generator
          takes part, by 499 deals of at most 2,500 rows; to look at first, as it sees different means far better

        Raises
        ------
        InvalidInput
            For another metric, a client that is an exact distribution or whose rows are not here, answers to a
            condition, fewer than two clients, or too many deals.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> apart = {name: rng.normal(k, 1, size=(60, 4)) for k, name in enumerate("abc")}
        >>> scores = nm.evaluate(apart, {"g": rng.normal(1, 1, size=(300, 4))}, "fid")
        >>> (scores.heterogeneity("fid")["p_kid"] < 0.01).tolist()
        [True]
        """
        return heterogeneity(self.result(check_deals(metric, self)), self, shuffles, seed)

    def modes(
        self,
        generator: str,
        settings: Any = None,
        *,
        most: int = 6,
        floor: float = FLOOR,
        permutations: int = 199,
        seed: int = 0,
        client_shares: Mapping[str, Sequence[float]] | None = None,
    ) -> pd.DataFrame:
        """Which kinds of rows a generator makes too often or too rarely, and at which clients they are.

        Modes are the leading eigenvectors of M_G − η M_S (too often) and M_S − η M_G (too rarely), M = E φφᵀ of random
        Fourier features φ and M_S = Σ λ_i M_i: KEN (Zhang et al. 2024) and FINC (arXiv 2405.02700, algorithm 1).

        Parameters
        ----------
        generator : its name
        settings : `nm.metrics.Modes(sigma, count, eta, seed)`; None for the one among the metrics, or its defaults
        most : modes of both kinds together, 1 to 20
        floor : a row belongs to the mode of its largest squared projection (vᵀφ)², if that is at least this, 0 to 1
        permutations : of rows between generator and clients; the smallest p is 1/(permutations + 1)
        seed : of the permutations
        client_shares : name -> `table.attrs["assignment"].shares(rows)`, from clients that keep their rows

        Returns
        -------
        DataFrame, one row a mode, the largest eigenvalue first:

        - mode: "too often 1", "too rarely 1", …
        - generated, real: the share of rows in it, `_low` and `_high` the ends of a 95 % interval given the mode; real
          is Σ λ_i of the shares at the clients
        - one column a client: the share of its rows
        - p: how often permuted rows have a mode as large, over all modes at once; NaN where rows are not here and
          under weights other than by rows (`attrs["conventions"]` says why)
        - rows: the five nearest to it, as (generator or client, position): generated ones of modes made too often, real
          ones of the others

        `attrs["eigenvalues"]` are the sizes of the modes. A class of rows can be several modes, and a mode several
        classes: look at its rows.

        Raises
        ------
        InvalidInput
            For an unknown generator, one with answers to conditions or one distribution for each client, exact
            distributions or clients that keep their rows where `nm.metrics.Modes` was not evaluated, and scores that
            were opened from a file.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> cats, dogs = rng.normal(size=(2, 300, 2)) + [[[0.0, 0.0]], [[8.0, 0.0]]]
        >>> scores = nm.evaluate({"cats": cats[:100], "dogs": dogs[:100]}, {"g": cats[100:]}, "fid")
        >>> table = scores.modes("g", nm.metrics.Modes(sigma=3.0), most=2, permutations=99).sort_values("mode")
        >>> table[["mode", "generated", "real", "cats", "dogs"]].round(1).to_string(index=False).splitlines()
        ['        mode  generated  real  cats  dogs',
         ' too often 1        1.0   0.5   1.0   0.0',
         'too rarely 1        0.0   0.5   0.0   1.0']
        >>> table["p"].tolist()
        [0.01, 0.01]
        """
        return modes(
            self,
            generator,
            settings,
            most=most,
            floor=floor,
            permutations=permutations,
            seed=seed,
            client_shares=client_shares,
        )

    def disagreement(
        self,
        first: str,
        second: str,
        metric: str = "fid",
        settings: Any = None,
        *,
        most: int = 6,
        floor: float = FLOOR,
    ) -> pd.DataFrame:
        """What two generators differ in, and how much of it decides between them by avg and by all.

        Parameters
        ----------
        first, second : names of generators
        metric : "fid" or "kid", as evaluated
        settings, most, floor : as for `modes`

        Returns
        -------
        DataFrame, one row a mode, eigenvectors of M_first − η M_second and of M_second − η M_first:

        - mode: "more in first 1", "more in second 1", …
        - first, second, real and one column a client: the shares of rows in it, with intervals as in `modes`
        - avg_part, all_part: what its generated rows contribute to avg(first) − avg(second) and to all(first) −
          all(second), by their influence values; in units of the score, without the bias of few rows: to first order
          −avg_change and −all_change. NaN where they are off by more than a fifth of these
        - avg_error, all_error: that relative error
        - avg_change, all_change: how these differences change if the mode's generated rows are left out, computed anew
        - rows: the five nearest to it, of the generator that has more of it

        `attrs["sentences"]` say it in words, `attrs["differences"]` are what the parts belong to: they need not add up
        to it, as rows of no mode take part, and a difference is not additive.

        Raises
        ------
        InvalidInput
            As `modes`; for a metric without influence values, and where rows are not here.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> rows = rng.normal(size=(4, 200, 2)) + [[[0.0, 0.0]], [[8.0, 0.0]], [[0.0, 0.0]], [[8.0, 0.0]]]
        >>> generators = {"both": np.concatenate(rows[2:]), "cats": np.concatenate([rows[2], rows[3][:160]])}
        >>> scores = nm.evaluate({"cats": rows[0], "dogs": rows[1]}, generators, "kid")
        >>> table = scores.disagreement("both", "cats", "kid", nm.metrics.Modes(sigma=3.0), most=2)
        >>> sorted(table["mode"])
        ['more in first 1', 'more in second 1']
        """
        return disagreement(self, first, second, metric, settings, most, floor)

    def size_gap(self, metric: str = "fid") -> np.ndarray:
        """The gap that clients of one distribution with so many rows would show, (generators,); 0 for exact
        distributions.

        From the eigenvalues of the pooled rows, to within about a tenth for normal and rectified rows of more than two
        features. With heavy-tailed or sparse rows it was down to a quarter of the mean shuffled gap, measured in
        docs/heterogeneity.md. Known for FID alone, 0 for other metrics. `heterogeneity` tests the gap.
        """
        return self.result(metric).size_gaps

    def agreement(self, metric: str, corrected: bool = False, *, between: Sequence[str] = ("avg", "all")) -> float:
        """Kendall's τ between the orders by avg and by all: 1 the same, −1 reversed; NaN for one generator.

        Of the plain scores, or of the `corrected` ones, as `ranks`; `between` as for `inversions`.
        """
        from scipy.stats import kendalltau

        _, one, other = decisions.pair_of_losses(self, metric, corrected, between)
        if len(one) < 2 or np.isnan([one, other]).any():
            return math.nan
        return float(kendalltau(places(one), places(other)).statistic)

    def with_weights(self, weights: Any) -> Scores:
        """The same summaries under other client weights (sequence, or dict by name); nothing is sampled again.

        Examples
        --------
        >>> scores = nm.evaluate({"a": nm.Gaussian([0.0]), "b": nm.Gaussian([2.0])}, {"g": nm.Gaussian([0.0])}, "fid")
        >>> scores.with_weights([3, 1]).table["avg"].round(6).tolist()
        [1.0]
        """
        shares = check_named_weights(weights, self.names)
        results = [cells.with_weights(shares) for cells in self._results]
        return Scores(self.names, shares, self.generators, results, self._convention, self.provenance, self.groups)

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """What each client sends and receives: client, metric, aggregate, bytes, bytes_down, reveals.

        For *avg* the summary of each generator comes down (`bytes_down`) and one number a generator goes up (`bytes`);
        for *all* the client's summary goes up, once for all generators, of the size that `nm.federated.client_summary`
        makes, and avg can be had from it too. `reveals` says in words what that tells. Summaries of what generators
        answered to its condition come on top wherever they are pooled.

        Examples
        --------
        >>> scores = nm.evaluate([np.eye(8)], {"g": nm.Gaussian([0.0] * 8)}, "fid")
        >>> scores.ledger[["aggregate", "bytes", "reveals"]]
          aggregate  bytes                   reveals
        0       avg      8  one number per generator
        1       all    572       mean and covariance
        """
        return self._with_conventions(import_room("federated").ledger(self))

    def plot(self, kind: str = "scatter", *, metric: str | None = None, ax: Axes | None = None) -> Figure:
        """A Figure of every metric, a panel each, or of one `metric`.

        Parameters
        ----------
        kind : "scatter" (avg against all; intra where there is one), "ranks" (places by each aggregate), "clients"
            (client by client), or "regret" (clients × generators, coloured by how much worse than the client's best)
        ax : matplotlib Axes to draw one metric into; their Figure is returned
        """
        from . import figure

        return figure.draw(self, kind, metric, ax)

    def save(self, path: Any) -> Path:
        """Write all of them into one file, `to_json`, whole or not at all, and return the path; see `Scores.open`."""
        return saved_scores.save(self, self._convention, path)

    @classmethod
    def open(cls, path: Any) -> Scores:
        """The scores that `save` wrote: they print, rank and export as before, without rows or summaries.

        What needs those, other weights and tests of the gap, raises InvalidInput, and so does a file that is not one
        of scores, of a newer version, or damaged.

        Examples
        --------
        >>> scores = nm.evaluate([nm.Gaussian([0.0])], {"a": nm.Gaussian([0.0]), "b": nm.Gaussian([2.0])}, "fid")
        >>> nm.Scores.open(scores.save("scores.json")).table["all"].tolist()
        [0.0, 4.0]
        """
        parts = saved_scores.read(path)
        ledger = parts.pop("ledger")
        scores = cls(**parts)
        vars(scores)["ledger"] = saved_scores.ledger_of(ledger)
        return scores

    def to_json(self) -> str:
        """Everything that is saved, as JSON: values, terms, intervals and p-values, conventions and provenance.

        NaN is null, and an infinite number a text.
        """
        return saved_scores.as_json(self, self._convention)

    def to_csv(self, path: Any, *, clients: bool = False) -> Path:
        """Write `table`, or with `clients` the scores client by client, as CSV (UTF-8), and return the path.

        A spreadsheet would run a name that begins with = + - or @ as a formula: such a name gets an apostrophe before
        it, and so does one that begins with an apostrophe, so taking one off gives every name back. With uncertainty
        a column `note` of `table` says of a corrected distance below 0 what that means; the number stays.
        """
        target = checked_path(path, ".csv")
        return write(target, export.as_csv(self.clients if check_flag(clients, "clients") else with_notes(self)))

    def to_records(self) -> list[dict[str, Any]]:
        """Flat dicts of plain JSON types, one for each generator and metric, for trackers, databases and data frames.

        Each has the columns of `table` that its metric has (None where there is no value), `higher_is_better`, how the
        numbers were made (`convention`, `intervals`, `note`) and all `cautions`, the number of `clients` and each one's
        share as `weight/name`, and the version of `nbmetrics` and `date` of the evaluation.

        Examples
        --------
        >>> clients = {"a": nm.Gaussian([-1.0]), "b": nm.Gaussian([1.0])}
        >>> (record,) = nm.evaluate(clients, {"g": nm.Gaussian([0.0])}, "fid").to_records()
        >>> [record[key] for key in ("generator", "metric", "avg", "weight/a", "clients")]
        ['g', 'fid', 1.0, 0.5, 2]
        """
        return export.as_records(self, self._convention, self.provenance)

    def to_markdown(self) -> str:
        """A table for a README or an issue: a row a generator; avg, all and gap of each metric; the best in bold.

        The best is that of the score that stands first in a cell, as in every other table of these scores.

        Equals are all bold, by the number that is shown; with uncertainty the interval stands beside it. Conventions
        and cautions are notes below. Names are escaped.

        Examples
        --------
        >>> scores = nm.evaluate([nm.Gaussian([0.0])], {"a_1": nm.Gaussian([0.0]), "b": nm.Gaussian([2.0])}, "fid")
        >>> print(scores.to_markdown())
        | generator | FID avg | FID all | FID gap |
        | :-- | --: | --: | --: |
        | a\\_1 | **0** | **0** | 0 |
        | b | 4 | 4 | 0 |
        ...
        """
        return export.as_markdown(self)

    def to_latex(self) -> str:
        """The same table for LaTeX with the package booktabs: a `table` with its caption, and the notes below it."""
        return export.as_latex(self)

    def label(self, metric: str) -> str:
        """The name of a metric as people read it."""
        return self.result(metric).label

    def plain_label(self, metric: str) -> str:
        """The label, said to be of the plain scores where the table shows corrected ones first."""
        if all(cells.noise is None for cells in self._results):
            return self.label(metric)
        rows = self.table[self.table["metric"] == metric]
        parts = [part for part in ("avg", "all") if f"{part}_corrected" in rows]
        same = all(np.allclose(rows[part], rows[f"{part}_corrected"], rtol=1e-9, atol=0) for part in parts)
        return self.label(metric) if same else f"plain {self.label(metric)}"

    def result(self, metric: str) -> Cells:
        """One metric before any aggregate: its summaries, and the cell of every pair."""
        check_choice(metric, self.metrics, "metric")
        return self._results[self.metrics.index(metric)]

    def summary(self) -> list[str]:
        """In words, who is best by avg and by all, and how many pairs of generators they order differently."""
        return sentences.summary(self)

    def __repr__(self) -> str:
        return encodable(as_text(self))

    def _repr_html_(self) -> str:
        return as_html(self)
