"""The tables of `Scores` about models that were trained several times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models
from .scores_protocol import ScoresProtocol

if TYPE_CHECKING:
    import pandas as pd


class ModelTables:
    """What `Scores` say of models, by the runs that each has."""

    def models(self: ScoresProtocol, metric: str) -> pd.DataFrame:
        """Each model's mean over its runs, how far the runs differ, and an interval for the mean of its trainings.

        Runs of one model are given as `{"ddpm": [run1, run2, run3], "gan": [run4, run5]}`, or as
        `nm.Generator(rows, group="ddpm")` for each; a generator without group is a model of one run.

        Returns
        -------
        DataFrame, one row a model:

        - model, runs: its name, and how many runs it has
        - avg, all; and intra where there is one: the mean of the runs' scores, corrected where the table marks the best
          by corrected ones
        - avg_sd, …: the standard deviation of the runs' scores, which holds both the differences of trainings and
          the chance of the rows that each generated
        - avg_low, avg_high, …: the interval of the mean of all trainings that the model could have had, at the level
          of the intervals, 90 % by default; with `uncertainty` for other real rows, too, else for these alone
        - avg_rank, …: 1 for the best mean
        - note: why sd or interval are missing

        They do not depend on the order of the runs. The intervals take the differences of the runs for normal.

        Examples
        --------
        >>> runs = {"near": [nm.Gaussian([k / 10]) for k in (1, 2, 3)], "far": [nm.Gaussian([k]) for k in (1, 2, 3)]}
        >>> nm.evaluate([nm.Gaussian([0.0])], runs, "fid").models("fid")[["model", "runs", "all", "all_sd"]].round(3)
          model  runs    all  all_sd
        0  near     3  0.047   0.040
        1   far     3  4.667   4.041
        """
        frame = models.models_frame(self, metric)
        frame.attrs["conventions"] = [*models.lines_of_means(self, metric), *self.conventions]
        return frame

    def compare_models(self: ScoresProtocol, metric: str, by: str = "all") -> pd.DataFrame:
        """Do models differ by more than their own runs do? Each pair of models, by the means over their runs.

        All runs are scored on the same real rows, so what these add to all scores alike does not count against a
        difference; what they add to one model more than to another does where `uncertainty` is given, and else the
        comparison is one `on these real rows`.

        Parameters
        ----------
        metric : a metric that was evaluated
        by : "avg", "all", or "intra" where there is one

        Returns
        -------
        DataFrame, one row a pair:

        - model, other, and difference: the mean of `model` − that of `other`; of C_T the distances from its best score
        - low, high: the interval of the difference, at the level of the intervals, 90 % by default
        - p: two-sided, the larger one of two. By Student's t of the runs of each model it is at most .05 in 5 % of
          comparisons of models that do not differ, where runs are normal with any spread. By the deals of the
          models' labels to the runs, to the side seen, it keeps to that for runs that collapse at times, too
          (docs/intervals.md counts both)
        - p_holm: the same for all pairs of this table together (Holm 1979)
        - smallest_p: 1/C(r₁ + r₂, r₁) for r₁ and r₂ runs, the least that p can be, where all runs of one model are
          better than all of the other: with two runs of each nothing is shown at .05, with three .05 is the least
        - note: why there is no p-value (a model of one run, a run without score, the same run twice, plain scores
          of other numbers of rows), or what it leaves out

        `attrs["conventions"]` says how many comparisons are made. Source: Banerjee, Sankhyā 22, 1960, for the
        interval and Student's t.

        Examples
        --------
        >>> runs = {"near": [nm.Gaussian([k / 10]) for k in (1, 2, 3)], "far": [nm.Gaussian([k]) for k in (7, 8, 9)]}
        >>> scores = nm.evaluate([nm.Gaussian([0.0])], runs, "fid")
        >>> scores.compare_models("fid")[["model", "other", "difference", "p", "smallest_p", "note"]].round(3)
          model other  difference     p  smallest_p note
        0  near   far      -64.62  0.05        0.05
        """
        frame = models.comparison_frame(self, metric, by)
        frame.attrs["conventions"] = [*models.lines_of_comparison(self, metric), *self.conventions]
        return frame
