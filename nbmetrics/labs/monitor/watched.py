"""What a user asks of a run, live or opened: hand a step over, read what is known, set alarms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import recording as engine
from .callbacks import HuggingFaceCallback, LightningCallback
from .run import Run

if TYPE_CHECKING:
    import pandas as pd


class Watched:
    """The part of a Monitor that is no view: it only passes on to the `Recording` behind it."""

    _record: engine.Recording

    def _rules_changed(self) -> None:
        """Show the alarms of other rules soon."""
        raise NotImplementedError

    def log(self, step: int, source: Any = None, **losses: Any) -> bool:
        """Hand over a generator as it is at a step of the training, from any thread.

        Parameters
        ----------
        step : a whole number, 0 or more; steps may come in any order, and one that comes twice is taken anew
        source : a torch module with `latent_dim`, a function `(n, rng) -> rows`, rows (or images, where the clients
            are), or a distribution; None where there are only losses. Drawn at once, in evaluation mode, of the same
            seed at every step; modules and all random streams are left as they were
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
        return self._record.log(step, source, **losses)

    def keep(self, step: int, source: Any = None, **losses: Any) -> bool:
        """As `log`, and the step is scored whatever it costs: the last one, or one that a checkpoint is written of."""
        return self._record.keep(step, source, **losses)

    @property
    def table(self) -> pd.DataFrame:
        return self._record.table

    @property
    def scores(self) -> pd.DataFrame:
        """Of every client at every step."""
        return self._record.history.scores

    @property
    def losses(self) -> pd.DataFrame:
        return self._record.losses

    @property
    def alarms(self) -> pd.DataFrame:
        """Of the default rules and of those that `alarm` added, read again from the whole run."""
        return self._record.alarms

    @property
    def words(self) -> list[str]:
        return self._record.words

    @property
    def cost(self) -> engine.Cost:
        return self._record.cost

    @property
    def troubles(self) -> list[str]:
        return self._record.troubles

    def best(self, metric: str) -> dict[str, int | None]:
        """The step with the best score by avg and by all, None where there is none yet."""
        return self._record.best(metric)

    def best_set(self, metric: str) -> dict[str, list[int]]:
        """The steps that are not worse than any other by more than chance, by avg and by all.

        Raises InvalidInput where the noise of the scores is not known.
        """
        return self._record.best_set(metric)

    def with_weights(self, weights: Any) -> Run:
        """The run as it is now under other weights, by name or in order: its table, best checkpoints and alarms.

        avg and KID-all are exact; FID-all too up to 64 features, from moments in the log, and beyond to first order.
        Other metrics have no *all* there.
        """
        return self._record.with_weights(weights)

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
        self._record.alarm(column, rises=rises, falls=falls, for_=for_, call=call)
        self._rules_changed()

    @property
    def rules(self) -> list[str]:
        """The names of the rules that sound alarms: the default ones, and those that `alarm` added."""
        return self._record.rules

    def remove_alarm(self, name: str) -> None:
        """Let a rule, by its name in `rules`, sound no more; to change one, remove it and add it anew."""
        self._record.remove_alarm(name)
        self._rules_changed()

    def lightning(self, source: Any, every: int = 1) -> LightningCallback:
        """A callback for PyTorch Lightning: `Trainer(callbacks=[monitor.lightning(module.generator)])`.

        Logs `source`, as for `log`, and what the module logged (`callback_metrics`) every so many steps of the trainer
        (`global_step`), of which those are scored that 5 % of the time pay for; the last step always is. Of several
        processes only the first logs.

        Raises InvalidInput for what cannot be a generator of these clients.
        """
        return LightningCallback(self._record, source, every)

    def hugging_face(self, source: Any, every: int = 1) -> HuggingFaceCallback:
        """A callback for Hugging Face's `transformers.Trainer(callbacks=[monitor.hugging_face(model.generator)])`.

        As `lightning`; losses come when the trainer logs them (`logging_steps`).
        """
        return HuggingFaceCallback(self._record, source, every)

    def to_tensorboard(self, folder: Any) -> Path:
        """Write scores, losses and alarms as TensorBoard's files into a new folder, and return it.

        Of scores avg, all, gap and those of the first 100 clients. Raises InvalidInput where tensorboard is not
        installed, and for a folder that is not empty or cannot be written.
        """
        return self._record.to_tensorboard(folder)
