"""PrivacyLab: at which ε the ranks survive.

Flow: the study (study.py) is made once, when the lab is; of digits it is read (digits_study.py) → the page has all of
it, and moves along its grid of ε by itself → Python answers each scene with the same numbers (numbers.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import traitlets

from ...errors import InvalidInput, check_choice, check_count
from ...evaluation.scores import Scores
from ...federated.survival import survival_table
from ..toolkit import modules, saved
from ..toolkit.lab import Lab
from .digits_study import ABOUT
from .numbers import headline, nearest, numbers_of, ranking_of
from .scene import PrivacyScene
from .settings import EPSILONS, Settings
from .study import page_json, study_of

if TYPE_CHECKING:
    from ...figures.drawing import Drawing

FIRST_EPSILON = 3.0
OPENS, MOST, LEAST = "As it opens", "Most noise", "Least noise"


class PrivacyLab(Lab):
    """At which ε do the ranks survive: scores under the noise of a private release, run by run, beside those without.

    Parameters
    ----------
    federation, generators : as for `nm.evaluate`, clients with rows; by default digits and four generators of them
    metrics : "fid", "kid" (here of 1,024 random features of `nm.RBF()`), or KID of other `nm.RandomFeatures`
    clip, delta, centre : see `nm.federated.Privacy`; δ and each ε hold for all metrics together
    epsilons : the grid that the page moves along, 0.001 to 1,000
    repeats : runs, which are draws of the noise: the same at every ε, only scaled
    samples, seed : as for `nm.evaluate`, and of the noise
    hours : how long the runs may take, see `nm.federated.rank_survival`; a bar shows how far they are

    The study is made when the lab is, of the rows: it is not private itself, and is made before a release, of public or
    simulated data like those to come.

    Attributes
    ----------
    table : DataFrame, as of `nm.federated.rank_survival`

    Raises
    ------
    InvalidInput
        Before anything is computed, as `nm.federated.rank_survival`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clients = [rng.normal(k, 1, size=(500, 2)) for k in (0, 1)]
    >>> generators = {"near": nm.Gaussian([0.5, 0.5], 1.2), "far": nm.Gaussian([2.0, 2.0])}
    >>> lab = nm.PrivacyLab(clients, generators, "fid", clip=5.0, epsilons=[0.01, 10], repeats=5)
    >>> lab.result["kept"], len(lab.result["drawn"])
    (5, 5)
    """

    _esm = modules.module("privacy/view/index.js")
    _css = modules.style(*modules.CHARTS, "privacy/view/style.css")
    _state = PrivacyScene
    _saved_words = saved.OF_PRIVACY

    study = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        federation: Any = None,
        generators: Any = None,
        metrics: Any = ("fid", "kid"),
        *,
        clip: float | None = None,
        delta: float = 1e-5,
        epsilons: Any = EPSILONS,
        centre: Any = None,
        repeats: int = 20,
        samples: int | None = None,
        seed: int = 0,
        hours: float = 1.0,
    ) -> None:
        counts = {"repeats": repeats, "samples": samples, "seed": seed, "hours": hours}
        settings = Settings.of(metrics, clip, delta, epsilons, centre, **counts)
        self._study, of = study_of(federation, generators, settings)
        has_data = federation is not None
        self.study = page_json(self._study, of, "" if has_data else ABOUT, settings.code(has_data))
        grid = self._study.epsilons
        scene = {"metric": self._study.metrics[0].name, "of": of}
        places = {OPENS: grid[nearest(grid, FIRST_EPSILON)], MOST: grid[0], LEAST: grid[-1]}
        presets = {n: PrivacyScene.parse({**scene, "epsilon": e, "preset": n}) for n, e in places.items()}
        super().__init__(presets[OPENS], presets)

    @property
    def table(self) -> pd.DataFrame:
        """What `nm.federated.rank_survival` gives: a row for each ε, metric and aggregate."""
        return survival_table(self._study)

    def scores(self) -> Scores:
        """Without clipping and noise, as `nm.evaluate` gives them."""
        return self._study.scores

    def _computed(self, scene: PrivacyScene) -> dict[str, Any]:
        return numbers_of(self.study, scene)

    def _read(self, value: Any) -> PrivacyScene:
        scene: PrivacyScene = super()._read(value)
        self._accept(scene)
        return scene

    def _accept(self, scene: PrivacyScene) -> None:
        if scene.of != self.study["of"]:
            seen = f"is about {'other' if scene.of == 'own' else 'the lab’s own'} data than this lab shows"
            raise InvalidInput("scene", seen, "Open it with the data that it was made from")
        check_choice(scene.metric, [metric["name"] for metric in self.study["metrics"]], "metric")
        check_count(scene.run, "run", maximum=self._study.drawn.shape[1])

    @classmethod
    def _open(cls, scene: Any) -> PrivacyLab:
        if scene.of == "own":
            fix = "Make the lab of the same data, and load it there: lab.from_share(…)"
            raise InvalidInput("share string", "contains a PrivacyLab's settings, not its data", fix)
        return super()._open(scene)

    def to_code(self) -> str:
        """Python that shows this state again, of the data in the notebook where they are one's own."""
        return str(self._scene.to_code(self.study["code"]))

    def _picture(self) -> Drawing:
        from .figure import privacy_lab

        return privacy_lab(self.study, self._scene, numbers_of(self.study, self._scene))

    def _described(self) -> str:
        study, scene = self.study, self._scene
        numbers = numbers_of(study, scene)
        shown = ", ".join(study["generators"][g] for g in ranking_of(numbers["shown"]))
        return (
            f"PrivacyLab: {headline(numbers)} Run {scene.run} would show the order {shown}. "
            "The picture has how often the best stays first against ε, hatched where the noise decides, and the scores "
            "of all runs next to those without noise."
        )
