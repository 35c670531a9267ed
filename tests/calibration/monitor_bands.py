"""How wide the Monitor's bands are beside how scores scatter: few rows, many features, decaying spectra."""

import numpy as np

from nbmetrics.labs.monitor.scoring import Scoring

RUNS, NAMES = 200, "abcd"
# Rows of each client, and features.
SIZES = [(400, 8), (200, 32), (100, 64), (40, 64)]


def drawn(rng, rows, features, shift, width):
    """Rectified rows whose variances fall as 1/k."""
    noise = rng.normal(size=(rows, features)) * np.sqrt(1.0 / np.arange(1, features + 1))
    return np.maximum(0.3 + shift + width * noise, 0.0)


def ratios(rows, features, runs):
    """The root mean square of the standard errors told of avg, all and intra, over the scores' standard deviations."""
    told, seen = {"fid": [], "kid": []}, {"fid": [], "kid": []}
    for seed in range(runs):
        rng = np.random.default_rng([rows, features, seed])
        real, made = (
            {name: drawn(rng, rows, features, 0.3 * i, width) for i, name in enumerate(NAMES)} for width in (1.0, 1.2)
        )
        for metric, scores in Scoring(real).score(made, is_paired=False, position=1)[0].items():
            told[metric].append([*scores.noise.errors[:2], scores.noise.own_error])
            seen[metric].append([scores.clients.mean(), scores.all, scores.own.mean()])
    return {m: np.sqrt(np.mean(np.square(told[m]), axis=0)) / np.std(seen[m], axis=0, ddof=1) for m in told}


def main(runs=None):
    print("| rows a client, features | metric | avg | all | intra |", "|---|---|--:|--:|--:|", sep="\n")
    for rows, features in SIZES:
        for metric, found in ratios(rows, features, int(runs or RUNS)).items():
            print(f"| {rows} × {features} | {metric.upper()} |", " | ".join(f"{x:.2f}" for x in found), "|", flush=True)
