"""What each figure needs of its table, asked in one place before anything is drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fnmatch import filter as matching
from typing import Any

import pandas as pd

from ..errors import InvalidInput, shown

_SCORES = "fid_avg fid_all fid_gap kid_avg kid_all kid_gap"
_PLACES = "fid_avg_rank fid_all_rank kid_avg_rank kid_all_rank"
_NEIGHBORS = [f"{m}_{a}" for m in ("precision", "recall", "density", "coverage") for a in ("avg", "all")]
_ESTIMATED = [f"{m}_{e}" for m in ("mfid", "rfid", "cfid") for e in ("sc", "nsc1", "nsc2")]
_PAIR = "fid_inverted kid_inverted fid_avg_first fid_all_first kid_avg_first kid_all_first"
_KIDS = [f"kid_{e}" for e in ("biased", "unbiased", "linear", "subsets")]
# What is swept comes first; a star stands for the names of whatever clients or metrics the experiment was given.
COLUMNS = {
    "gaussian_toy": "v fid_avg fid_all kid_avg kid_all",
    "likelihood_toy": "v shift log_likelihood_avg log_likelihood_all log_likelihood_gap log_likelihood_ref",
    "gaussian_samples": "source x y",
    "single_class": "generator *_avg *_all",
    "class_federated": f"generator {_SCORES} {_PLACES}",
    "extractors_compared": f"extractor first second {_PAIR}",
    "published_ranks": f"generator {_SCORES} {_PLACES}",
    "variance_limited": f"scale neighbors {_SCORES} {_PLACES}",
    "truncation": f"psi spread {_SCORES} {_PLACES}",
    "neighbors_federated": f"generator clients {' '.join(_NEIGHBORS)}",
    "transport_federated": "generator w1_avg w1_all w1_avg_rank w1_all_rank",
    "mode_collapse": f"step since clients target run {_SCORES} fid_avg_law law_ratio",
    "checkpoints": f"step model clients {_SCORES}",
    "twin_generators": "construction generator fid_avg fid_all fid_client_*",
    "moons_density": "copies kind x y sigma_x sigma_y fld",
    "copied_width": "moved delta sigma ratio found",
    "bandwidth_sweep": "bandwidth fid_test fid_test_low fid_test_high fid_train fld fld_gap c_t auth_pct",
    "novelty": "share transform fld_gap fid_gap c_t auth_pct",
    "interactions": "fidelity diversity novelty fld",
    "copycat": "generator fid_train fid_test fld fld_gap c_t auth_pct precision recall",
    "transforms": "share transform kind fld fid",
    "diversity": "classes copies fld fid fld_sd fid_sd",
    "ranked_samples": "rank by generated train distance score",
    "sample_size": "test_size fld fid kid fld_sd fid_sd kid_sd",
    "generated_size": "size fld fid fld_sd fid_sd",
    "published_models": "model dataset features fld fld_rank fid fid_rank",
    "timing": "train_rows *_seconds",
    "correlation_contours": "rho rho_hat squared_difference rfid cfid",
    "condition_scale": "alpha mfid rfid cfid",
    "covariance_estimators": f"n {' '.join(f'{c} {c}_se' for c in _ESTIMATED)}",
    "paired_unpaired": "model features paired mfid rfid cfid",
    "published_conditional": "dataset model paired mfid rfid cfid",
    "kid_estimators": f"n kernel kid_exact kid_std kid_doubled kid_pca {' '.join(f'{c} {c}_sd' for c in _KIDS)}",
}
# Arguments that a figure cannot do without, and that only `attrs` hold.
_ARGUMENTS = {"kid_estimators": ("size", "subsets")}


def checked(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    """The figure function of the experiment `name`, which then refuses any other table; others stay as they are.

    A table without `attrs`, as one read from a file is, gets its id and its title from the function's docstring, and no
    arguments. What is swept becomes its first column.

    Raises
    ------
    InvalidInput
        From what is returned: the table is none, is empty, lacks columns, is another experiment's, or has lost what
        only `attrs` hold and the figure shows.
    """
    if name not in COLUMNS:
        return draw
    title, _, row = (draw.__doc__ or f"{name} ().").splitlines()[0].removesuffix(").").rpartition(" (")
    about = {"experiment": name, "id": row, "title": title, "arguments": {}}

    @functools.wraps(draw)
    def drawn(table: Any, *args: Any, **kwargs: Any) -> Any:
        _check(table, name)
        wanted = [column for column in COLUMNS[name].split() if column in table]
        ordered = table[[*wanted, *(column for column in table if column not in wanted)]]
        ordered.attrs = {**about, **table.attrs}
        return draw(ordered, *args, **kwargs)

    return drawn


def _check(table: Any, name: str) -> None:
    fix = f"Give what nm.experiments.{name}() returned, or the same read back from a file"
    if not isinstance(table, pd.DataFrame):
        raise InvalidInput("table", f"got {shown(table)}", fix)
    origin = table.attrs.get("experiment", name)
    whose = f"is the table of {origin}" if origin != name else ""
    missing = [column for column in COLUMNS[name].split() if not matching(map(str, table), column)]
    lacking = f"has no {', '.join(missing)} among its columns" if missing else ""
    if whose or lacking:
        raise InvalidInput("table", " and ".join(filter(None, (whose, lacking))), fix)
    if table.empty:
        raise InvalidInput("table", "has no rows", fix)
    lost = [key for key in _ARGUMENTS.get(name, ()) if key not in table.attrs.get("arguments", {})]
    if lost:
        seen = f"has lost the arguments {', '.join(lost)} of its experiment, which no file keeps"
        raise InvalidInput("table", seen, f"Give what nm.experiments.{name}() returned")
