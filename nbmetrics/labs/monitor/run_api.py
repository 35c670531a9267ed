"""RunApi: what a user asks of a Monitor: to log a step, and what is asked of its run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from .callbacks import HuggingFaceCallback, LightningCallback
from .run import Run

if TYPE_CHECKING:
    from .live_run import Cost, LiveRun


class RunApi:
    """The methods of `nm.Monitor` that ask the run behind it, and their documentation."""

    _live_run: LiveRun

    def _show_new_rules(self) -> None:
        """Show the alarms of other rules soon."""
        raise NotImplementedError

    def log(self, step: int, source: Any = None, **losses: Any) -> bool:
        """Hand over a generator as it is at a step of the training, from any thread.

        Parameters
        ----------
        step : a whole number, 0 or more, in any order. A generator that comes again at a step before the last one
            continues from there: what was logged since the first time, at that step and later ones, is replaced
        source : a torch module with `latent_dim`, a function `(n, rng) -> rows`, rows (or images, where the clients
            are), or a distribution; None where there are only losses. Drawn at once, in evaluation mode, of the same
            seed at every step; modules and all random streams are left as they were. `nm.Generator.by_client`, or a
            dict client -> source, has one distribution for each client, and adds the lines of intra
        losses : numbers by name; tensors are not waited for

        Returns
        -------
        bool : whether the step is to be scored; False where it came too soon for a cost of 5 %, or could not be drawn

        Raises
        ------
        InvalidInput
            For a step that is none, or a source that cannot be a generator of these clients; whatever goes wrong in
            drawing, scoring and writing is told (`troubles`), and not raised.
        """
        return self._live_run.log(step, source, **losses)

    def keep(self, step: int, source: Any = None, **losses: Any) -> bool:
        """As `log`, and the step is scored whatever it costs: the last one, or one that a checkpoint is written of."""
        return self._live_run.keep(step, source, **losses)

    def on_best(self, rule: tuple[str, str], save: Any, discard: Any = None) -> None:
        """Call functions that keep the best step by a metric and an aggregate.

        Parameters
        ----------
        rule : such as ("fid", "all"), or ("fid", "intra")
        save : called with the step inside the `log` or `keep` that takes it for scoring, before that returns, so the
            weights are still those of the step. It is called for each such step: what is best is known later
        discard : called with a step, on another thread, as soon as scores show that it is not the best, or no longer.
            After a restart the best step so far is taken for one that was saved

        What they raise is told (`troubles`), and not raised. Their seconds count as cost.
        """
        self._live_run.on_best(rule, save, discard)

    @property
    def checkpoints(self) -> dict[tuple[str, str], Path]:
        """The files of the best steps so far, by metric and aggregate, of those that have one; see docs/training.md."""
        return self._live_run.checkpoints

    @property
    def table(self) -> pd.DataFrame:
        return self._live_run.table

    @property
    def scores(self) -> pd.DataFrame:
        """Of every client at every step."""
        return self._live_run.history.scores

    @property
    def losses(self) -> pd.DataFrame:
        return self._live_run.losses

    @property
    def alarms(self) -> pd.DataFrame:
        """Of the default rules and of those that `alarm` added, read again from the whole run."""
        return self._live_run.alarms

    @property
    def words(self) -> list[str]:
        return self._live_run.words

    @property
    def cost(self) -> Cost:
        return self._live_run.cost

    @property
    def troubles(self) -> list[str]:
        return self._live_run.troubles

    def best(self, metric: str) -> dict[str, int | None]:
        """The step with the best score by avg and by all, None where there is none yet; "fid_intra" has avg alone."""
        return self._live_run.best(metric)

    def best_set(self, metric: str) -> dict[str, list[int]]:
        """The steps that are not worse than any other by more than chance, by avg and by all.

        Raises InvalidInput where the noise of the scores is not known.
        """
        return self._live_run.best_set(metric)

    def with_weights(self, weights: Any) -> Run:
        """The run as it is now under other weights, by name or in order: its table, best checkpoints and alarms.

        avg, intra and KID-all are exact; FID-all too up to 64 features, from moments in the log, and beyond to first
        order. Other metrics have no *all* there. Of a generator with one distribution for each client, whose mixture
        moves with the weights, avg and all are known of KID, and of FID up to 64 features; else they are NaN.
        """
        return self._live_run.with_weights(weights)

    def alarm(
        self, column: str, *, rises: float | None = None, falls: float | None = None, for_: int = 1, call: Any = None
    ) -> None:
        """Sound an alarm where a column rises, or falls, by a share of its lowest, or highest, value so far.

        Parameters
        ----------
        column : `fid_avg`, `fid_all`, `fid_gap` and so on, `variance` of the generated rows, or the name of a loss
        rises, falls : the share, 0.5 for half of it; one of the two
        for_ : steps in a row
        call : a function of one `Alarm(step, alarm, words)`, called on another thread for each new one of a live run;
            what it raises is told
        """
        self._live_run.alarm(column, rises=rises, falls=falls, for_=for_, call=call)
        self._show_new_rules()

    @property
    def rules(self) -> list[str]:
        """The names of the rules that sound alarms: the default ones, and those that `alarm` added."""
        return self._live_run.rules

    def remove_alarm(self, name: str) -> None:
        """Let a rule, by its name in `rules`, sound no more; to change one, remove it and add it anew."""
        self._live_run.remove_alarm(name)
        self._show_new_rules()

    def lightning(self, source: Any, every: int = 1) -> LightningCallback:
        """A callback for PyTorch Lightning: `Trainer(callbacks=[monitor.lightning(module.generator)])`.

        Logs `source`, as for `log`, and what the module logged (`callback_metrics`) every so many steps of the trainer
        (`global_step`), of which those are scored that 5 % of the time pay for; the last step always is. Of several
        processes only the first logs.

        Raises InvalidInput for what cannot be a generator of these clients.
        """
        return LightningCallback(self._live_run, source, every)

    def hugging_face(self, source: Any, every: int = 1) -> HuggingFaceCallback:
        """A callback for Hugging Face's `transformers.Trainer(callbacks=[monitor.hugging_face(model.generator)])`.

        As `lightning`; losses come when the trainer logs them (`logging_steps`).
        """
        return HuggingFaceCallback(self._live_run, source, every)

    def to_tensorboard(self, folder: Any) -> Path:
        """Write scores, losses and alarms as TensorBoard's files into a new folder, and return it.

        Of scores avg, all, gap and those of the first 100 clients. Raises InvalidInput where tensorboard is not
        installed, and for a folder that is not empty or cannot be written.
        """
        return self._live_run.to_tensorboard(folder)

    def to(self, run: Any, past: bool = True) -> Self:
        """Log the scores of each scored step to an experiment tracker, once, in the order in which they are scored.

        Parameters
        ----------
        run : anything with `log(values, step=)`, such as `trackio.init(…)`, or a function of these arguments; called on
            another thread
        past : whether the steps that are scored by now are logged first; False where the tracker has them

        Returns
        -------
        Monitor : this one. The values are `fid/avg`, `fid/all`, `fid/gap` and so on, under the weights of the run; a
            score without a value is left out. A score follows its step: trackers that refuse a step older than their
            last one need a run, or a step, for scores alone (docs/training.md)

        What the tracker raises is shown once and told (`troubles`), and not raised; that step is not logged again.
        Raises InvalidInput for what cannot log.

        Examples
        --------
        >>> logged = []
        >>> monitor = nm.Monitor({"a": nm.Gaussian(-1.0), "b": nm.Gaussian(1.0)}, "fid", keep_all=True)
        >>> monitor = monitor.to(lambda values, step: logged.append((step, values)))
        >>> monitor.log(0, nm.Gaussian(0.0)) and monitor.wait()
        True
        >>> [(step, {name: round(value, 3) for name, value in values.items()}) for step, values in logged]
        [(0, {'fid/avg': 1.0, 'fid/all': 0.172, 'fid/gap': 0.828})]
        """
        self._live_run.to(run, past)
        return self
