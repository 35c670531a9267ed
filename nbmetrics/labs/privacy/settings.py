"""The arguments of a PrivacyLab beside its data: checked before anything is computed, and as Python again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from ...errors import InvalidInput, check_count, check_list, check_number, shown
from ...evaluation.samples import metric_list
from ...federated.privacy import MAX_EPSILON, MIN_EPSILON, Privacy
from ...metrics import KID, Metric
from ...metrics.kid.random_features import RandomFeatures

EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0)
MAX_RUNS = 1_000


@dataclass(frozen=True, eq=False)
class Settings:
    """As `PrivacyLab` takes them; `metrics` are names or Metric objects."""

    metrics: tuple[Any, ...] = ("fid", "kid")
    clip: float | None = None
    delta: float = 1e-5
    epsilons: tuple[float, ...] = EPSILONS
    centre: Any = None
    repeats: int = 20
    samples: int | None = None
    seed: int = 0
    hours: float = 1.0

    @classmethod
    def of(cls, metrics: Any, clip: Any, delta: Any, epsilons: Any, centre: Any, **counts: Any) -> Settings:
        """Checked; InvalidInput names the argument that is wrong."""
        one = isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable)
        names = (metrics,) if one else tuple(check_list(metrics, "metrics", 1_000))
        ends = {"minimum": MIN_EPSILON, "maximum": MAX_EPSILON}
        grid = tuple(sorted({check_number(e, "epsilons", **ends) for e in check_list(epsilons, "epsilons", 1_000)}))
        if len(grid) < 2:
            raise InvalidInput("epsilons", f"got {shown(epsilons)}", "Give two or more that differ")
        least = Privacy(grid[0], delta, clip, centre)
        repeats = check_count(counts["repeats"], "repeats", maximum=MAX_RUNS)
        seed = check_count(counts["seed"], "seed", minimum=0)
        samples = None if counts["samples"] is None else check_count(counts["samples"], "samples")
        hours = check_number(counts["hours"], "hours", minimum=0.0)
        settings = cls(names, least.clip, least.delta, grid, least.centre, repeats, samples, seed, hours)
        settings.metric_objects()
        return settings

    def metric_objects(self) -> list[Metric[Any]]:
        """Return the Metric objects; "kid" is KID of random features, in which noise can hide rows."""
        return metric_list([KID(RandomFeatures(count=1024)) if one == "kid" else one for one in self.metrics])

    @property
    def others(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, by name."""
        usual = Settings()
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        # a centre is an array, which no == compares to one value
        return {
            k: v for k, v in named.items() if v is not getattr(usual, k) and (k == "centre" or v != getattr(usual, k))
        }

    def code(self, has_data: bool) -> str:
        """Return Python that makes the lab again; what cannot be written down is named."""
        texts = {"federation": "federation", "generators": "generators"} if has_data else {}
        for name, value in self.others.items():
            is_named = name == "centre" or (name == "metrics" and not all(isinstance(one, str) for one in value))
            plain = list(value) if isinstance(value, tuple) else value
            texts[name] = f"{name}={name if is_named else json.dumps(plain)}"
        free = [name for name, text in texts.items() if text in (name, f"{name}={name}")]
        comment = f"# those that this lab was made from: {', '.join(free)}\n" if free else ""
        return f"{comment}lab = nm.PrivacyLab({', '.join(texts.values())})"
