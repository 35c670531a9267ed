"""How often a race names a wrong winner, and how many draws it takes beside uniform allocation, FD-UCB and greedy.

    python -m tests.calibration.race [RUNS [WORKERS]]      prints the tables of docs/race.md (90 minutes of one CPU)

Laws, written down before the runs; RUNS of each setting, confidence .95:

* unlike samplers: a wrong winner, or a wrong tie, in 5 % of the races at most, and of the first four settings draws at
  most those of uniform allocation with the same looks, intervals and rule to stop (.67 until a winner had to win once
  more by 300 new rows of each sampler, which uniform allocation draws anyway);
* two alike: "budget spent" in 95 % at least with tolerance 0, and a tie in 95 % at least with a tolerance;
each within two standard errors of a share;
* a generator with a share p of garbage far away, and heavy tails of equal scores: a wrong winner in .05 + (1 − p)⁶⁰⁰ at
  most, within three standard errors.

Clients are rows, and truths the exact FID or KID between these rows and the distribution behind a sampler. FD-UCB (Hu,
Leung & Farnia 2025, its bonus with M = 2, κ = 1, δ = .05) and greedy (no bonus) get as many draws as the race took, in
batches of 50; they name the sampler of the lowest FID, which their papers compute without a correction.
"""

import math
import multiprocessing
import os
import sys
from functools import cache, partial

import numpy as np

import nbmetrics as nm
from nbmetrics.evaluation.race import RunningRace

RUNS = 1_000
ERROR, MAX_SHARE, BUDGET = 0.05, 1.0, 100_000
BATCH = 50
MAIN = ("Gaussians, d 16", "Gaussians, d 64", "digits", "emoji features")
# Beyond the five settings: other metrics and aggregates, of fewer runs.
FURTHER = ("KID, d 16", "avg, d 16", "worst, d 16", "intra, d 16", "skewed, d 8", "loose, d 16")
SKEWED = ("two skewed alike", "two skewed alike, KID")
ALIKE = ("two alike", "two alike, tolerance", "two perfect", "two perfect, KID", "five alike", *SKEWED)
BY = {"avg, d 16": "avg", "worst, d 16": "worst", "intra, d 16": "intra"}
TOLERANCE = {"two alike, tolerance": 0.25, "loose, d 16": 0.3}
ALIKE_BUDGET = 12_000
# Features, share of garbage, how far it lies in each feature, the shift of the rival, which is better; metric, by.
RARE = {
    "1 % garbage, d 3": (3, 0.01, 12.0, 0.35, "fid", "all"),
    "1 % garbage, d 8": (8, 0.01, 12.0, 0.25, "fid", "all"),
    "1 % garbage, d 8, KID": (8, 0.01, 12.0, 0.25, "kid", "all"),
    "2 % garbage, d 8, avg": (8, 0.02, 12.0, 0.25, "fid", "avg"),
    ".5 % garbage, d 8, worst": (8, 0.005, 15.0, 0.25, "fid", "worst"),
    "1 % garbage, d 16": (16, 0.01, 10.0, 0.20, "fid", "all"),
}
HEAVY = ("t3 alike, d 4", "lognormal alike, d 4", "normal and t5, d 32", "elliptical, d 64", "elliptical, d 32")
LIMIT_BUDGET = 6_000
SCALES = {16: (1.10, 1.15, 1.20, 1.25, 1.35), 64: (1.10, 1.13, 1.16, 1.20, 1.25)}


def gaussian(d, scale, shift=0.0):
    distribution = nm.Gaussian(np.full(d, shift), scale**2)
    return distribution, lambda n, rng: rng.normal(shift, scale, size=(n, d))


def noisy(rows, sigma):
    """Rows drawn again, with noise: the distribution by its moments, which are exact, and a sampler."""
    d = rows.shape[1]
    exact = nm.Gaussian(rows.mean(axis=0), np.cov(rows.T, ddof=0) + sigma**2 * np.eye(d))
    return exact, lambda n, rng: rows[rng.integers(len(rows), size=n)] + rng.normal(0, sigma, size=(n, d))


def skewed(d, rate):
    """Independent exponential features, squashed to mean 0."""
    exact = nm.Gaussian(np.zeros(d), rate**2)
    return exact, lambda n, rng: rate * (rng.exponential(size=(n, d)) - 1.0)


@cache
def digits():
    rows, digit = nm.datasets.digits()
    clients = {"low": rows[digit < 5], "high": rows[digit >= 5]}
    pools = {"all": (rows, 0.1), "no 8": (rows[digit != 8], 0.1), "no 8, 9": (rows[digit < 8], 0.1)}
    pools |= {f"noise {sigma}": (rows, sigma) for sigma in (0.15, 0.2, 0.3)}
    return clients, {name: noisy(*pool) for name, pool in pools.items()}


@cache
def emoji():
    """32 principal components of the pixels of emoji."""
    pixels = nm.datasets.emoji(16)[0].reshape(-1, 768).astype(float)
    pixels -= pixels.mean(axis=0)
    _, values, axes = np.linalg.svd(pixels, full_matrices=False)
    rows = pixels @ axes[:32].T / values[0] * math.sqrt(len(pixels))
    clients = {"even": rows[::2], "odd": rows[1::2]}
    return clients, {f"noise {sigma}": noisy(rows, sigma) for sigma in (0.10, 0.15, 0.20, 0.25, 0.30)}


def with_garbage(d, share, far):
    def draw(n, rng):
        rows = rng.normal(size=(n, d))
        rows[rng.random(n) < share] += far
        return rows

    return draw


def scaled(d, squares):
    """Normal rows, each times the root of its own draw of `squares(n, rng)`, which are 1 on average."""
    return lambda n, rng: rng.normal(size=(n, d)) * np.sqrt(squares(n, rng))[:, None]


def limit_setting(name, run):
    """Clients and samplers of a setting in which a kind of rows is rare, or tails are heavy."""
    rng = np.random.default_rng(run)
    if name in RARE:
        d, share, far, shift, *_ = RARE[name]
        rival = lambda n, rng: rng.normal(shift, 1.0, size=(n, d))  # noqa: E731
        return {"a": rng.normal(size=(300, d))}, {"garbage": with_garbage(d, share, far), "shifted": rival}
    if name == "t3 alike, d 4":
        heavy = scaled(4, lambda n, rng: 1.0 / rng.chisquare(3, size=n))
    elif name == "lognormal alike, d 4":
        heavy = lambda n, rng: np.exp(1.2 * rng.normal(size=(n, 4)))  # noqa: E731
    else:
        d, v = int(name.split()[-1]), 0.5
        of_t5, elliptical = lambda n, rng: 3.0 / rng.chisquare(5, size=n), lambda n, rng: rng.gamma(1 / v, v, size=n)
        normal = lambda n, rng: rng.normal(size=(n, d))  # noqa: E731
        other = scaled(d, of_t5 if "t5" in name else elliptical)
        return {"a": 1.2 * rng.normal(size=(200, d))}, {"normal": normal, "other": other}
    return {"a": heavy(200, rng)}, {"x": heavy, "y": heavy}


def limit_race(name, run):
    """Such a race, and whether its winner is wrong."""
    clients, samplers = limit_setting(name, run)
    metric, by = RARE[name][4:] if name in RARE else ("fid", "all")
    race = nm.race(clients, samplers, metric, by, budget=LIMIT_BUDGET, error=ERROR, seed=run, progress=False)
    return race, race.winner == "garbage" if name in RARE else race.winner is not None


def limit(name, races):
    """The largest share of wrong winners that so many races of such a setting may show."""
    bound = ERROR + (1.0 - RARE[name][1]) ** 600 if name in RARE else ERROR
    return bound + 3.0 * math.sqrt(bound * (1.0 - bound) / races)


def normal_clients(d, rng):
    return {"a": rng.normal(size=(40 * d, d)), "b": rng.normal(0.2, 1.0, size=(25 * d, d))}


def setting(name, run):
    """Clients, and by name the exact distribution of each sampler (by intra of each client) beside the sampler."""
    rng = np.random.default_rng([len(name), run])
    if name.endswith("digits"):
        return digits()
    if name == "emoji features":
        return emoji()
    if name.startswith("two perfect"):
        clients = {"a": rng.normal(size=(400, 8))}
        rows = clients["a"]
        exact = nm.Gaussian(rows.mean(axis=0), np.cov(rows.T))
        return clients, {k: (exact, lambda n, rng: exact.sample(n, rng)) for k in "xy"}
    if name.startswith(("two alike", "five alike")):
        scales = (1.2,) * (5 if name.startswith("five") else 2)
        return normal_clients(16, rng), {f"g{k}": gaussian(16, scale, 0.1) for k, scale in enumerate(scales)}
    if name in SKEWED:
        return {"a": rng.normal(size=(200, 2))}, {k: skewed(2, 1.3) for k in "xy"}
    if name == "skewed, d 8":
        return normal_clients(8, rng), {f"r{rate}": skewed(8, rate) for rate in (1.2, 1.3, 1.4, 1.6)}
    if name == "intra, d 16":
        return normal_clients(16, rng), {f"s{s}": _by_client(s) for s in SCALES[16]}
    d = 64 if name.endswith("64") else 16
    return normal_clients(d, rng), {f"s{s}": gaussian(d, s, 0.1) for s in SCALES[d]}


def _by_client(scale):
    shifts = {"a": 0.0, "b": 0.25}
    exact = {client: gaussian(16, scale, shift)[0] for client, shift in shifts.items()}
    return exact, lambda client, n, rng: rng.normal(shifts[client], scale, size=(n, 16))


def truths(clients, generators, metric, by):
    scores = nm.evaluate(clients, {n: exact for n, (exact, _) in generators.items()}, metric, progress=False)
    if by == "worst":
        return dict(zip(generators, scores.worst(metric)["worst"], strict=True))
    return dict(zip(generators, scores.table[by], strict=True))


class Uniform(RunningRace):
    """Looks, intervals and rules of a race in which all draw on until one has won."""

    def _new_draws(self, live):
        return super()._new_draws(list(self._draws.samplers))


def uniform(clients, samplers, metric, by, budget, seed):
    """The winner of uniform allocation, and all draws."""
    race = Uniform(nm.Federation(clients), samplers, metric, by, budget=budget, error=ERROR, seed=seed)
    draws = sum(race.looks())
    return race.log.winner, draws


class Bandit:
    """FD-UCB with its own bonus, or greedy without one, on the plain FID of the pooled clients."""

    def __init__(self, clients, has_bonus):
        real = np.concatenate([*clients.values()])
        self.mean, self.cov, self.has_bonus = real.mean(axis=0), np.cov(real.T), has_bonus
        values, vectors = np.linalg.eigh(self.cov)
        values = values.clip(0)
        self.root, self.root_trace = (vectors * np.sqrt(values)) @ vectors.T, np.sqrt(values).sum()

    def fid(self, mean, cov):
        cross = np.sqrt(np.linalg.eigvalsh(self.root @ cov @ self.root).clip(0)).sum()
        return float(((mean - self.mean) ** 2).sum() + np.trace(self.cov) + np.trace(cov) - 2 * cross)

    def bonus(self, mean, cov, n, m=2.0, kappa=1.0, delta=0.05):
        threshold = m * np.sqrt(2.0 * np.outer(np.diag(cov), np.diag(cov)) * math.log(len(mean)) / n)
        values = np.linalg.eigvalsh(np.where(np.abs(cov) < threshold, 0.0, cov))
        top, trace, log = values[-1], values.sum(), math.log(1.0 / delta)
        if not top > 0.0:
            return math.inf
        of_mean = math.sqrt((math.sqrt((values**2).sum() * log) + top * log) / n)
        of_cov = kappa**2 * top * math.sqrt((trace / top + log) / n) + of_mean**2
        first = of_mean * (of_mean + np.linalg.norm(mean - self.mean))
        return first + self.root_trace * math.sqrt(of_cov) + trace * math.sqrt(log / n) + top * log / n

    def run(self, samplers, draws, seed):
        """Return the sampler of the lowest FID after so many draws."""
        names, sums, scores, bounds = [*samplers], {}, {}, dict.fromkeys(samplers, -math.inf)
        rng = np.random.default_rng([seed, self.has_bonus])
        for _ in range(draws // BATCH):
            lowest = min(bounds.values())
            name = names[rng.choice([k for k, n in enumerate(names) if bounds[n] == lowest])]
            rows = samplers[name](BATCH, rng)
            n, total, square = sums.get(name, (0, 0.0, 0.0))
            n, total, square = sums[name] = n + len(rows), total + rows.sum(axis=0), square + rows.T @ rows
            mean = total / n
            cov = (square - n * np.outer(mean, mean)) / (n - 1)
            scores[name] = self.fid(mean, cov)
            value = scores[name] - (self.bonus(mean, cov, n) if self.has_bonus else 0.0)
            bounds[name] = value if math.isfinite(value) else -math.inf
        return min(scores, key=scores.get)


def one(name, run):
    """A race: why it stopped, whether that is wrong, draws; the draws of uniform allocation, and who else is wrong."""
    if name in RARE or name in HEAVY:
        race, is_wrong = limit_race(name, run)
        return race.stopped, is_wrong, sum(race.draws.values()), math.nan, math.nan, math.nan, math.nan
    clients, generators = setting(name, run)
    metric, by, tolerance = "kid" if "KID" in name else "fid", BY.get(name, "all"), TOLERANCE.get(name, 0.0)
    samplers = {g: sampler for g, (_, sampler) in generators.items()}
    budget = ALIKE_BUDGET if name in ALIKE else BUDGET
    options = {"budget": budget, "error": ERROR, "tolerance": tolerance, "seed": run, "progress": False}
    race = nm.race(clients, samplers, metric, by, **options)
    draws = sum(race.draws.values())
    if name in ALIKE:
        return race.stopped, race.winner is not None, draws, math.nan, math.nan, math.nan, math.nan
    truth = truths(clients, generators, metric, by)
    best = min(truth.values())

    def is_wrong(winner):
        return winner is not None and truth[winner] > best

    is_wrong_race = is_wrong(race.winner)
    if race.stopped.startswith("tie"):
        last = race.table[race.table["state"] == "tied"]["sampler"]
        is_wrong_race = max(truth[sampler] for sampler in last) > best + tolerance
    if tolerance:  # uniform allocation and bandits know none
        return race.stopped, is_wrong_race, draws, math.nan, math.nan, math.nan, math.nan
    winner, uniform_draws = uniform(clients, samplers, metric, by, budget, run)
    errors = [math.nan] * 2
    if name in MAIN:
        errors = [is_wrong(Bandit(clients, bonus).run(samplers, draws, run)) for bonus in (True, False)]
    return race.stopped, is_wrong_race, draws, uniform_draws, is_wrong(winner), *errors


def results(name, runs, pool):
    each = partial(one, name)
    return [*(pool.imap_unordered(each, range(runs), chunksize=4) if pool else map(each, range(runs)))]


def row(name, runs, pool):
    """A line of the table, and whether it keeps the laws."""
    stopped, *columns = zip(*results(name, runs, pool), strict=True)
    wrong, draws, uniform_draws, uniform_wrong, ucb, greedy = np.array(columns, dtype=float)
    shares = [stopped.count(kind) / runs for kind in ("winner", "tie within the tolerance", "budget spent")]
    slack = 2.0 * math.sqrt(ERROR * (1.0 - ERROR) / runs)
    ratio = draws.mean() / uniform_draws.mean()
    if name in RARE or name in HEAVY:
        is_kept = wrong.mean() <= limit(name, runs)
    elif name in ALIKE:
        is_kept = shares[1 if name in TOLERANCE else 2] >= 1.0 - ERROR - slack
    else:
        is_kept = wrong.mean() <= ERROR + slack and (name not in MAIN or ratio <= MAX_SHARE)
    numbers = [f"{share:.3f}" for share in (*shares, wrong.mean())]
    numbers += [f"{draws.mean():,.0f}", f"{uniform_draws.mean():,.0f}", f"{ratio:.2f}"]
    numbers += [f"{share.mean():.3f}" for share in (uniform_wrong, ucb, greedy)]
    cells = [name, f"{runs:,}", *numbers, "yes" if is_kept else "NO"]
    return f"| {' | '.join(cells)} |".replace("nan", "–"), is_kept


HEAD = (
    "| setting | races | won | tie | budget spent | wrong winner | draws | of uniform | share | uniform wrong | "
    "FD-UCB wrong | greedy wrong | laws kept |\n|:--|" + "--:|" * 12
)


def main(runs=None, workers=1):
    """`runs` of the five settings, and a fifth of them of the further ones, over `workers` processes."""
    runs = runs or RUNS
    print(HEAD)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # of the processes that start from here on
    pool = multiprocessing.get_context("spawn").Pool(workers) if workers > 1 else None
    try:
        for name in (*MAIN, *ALIKE, *FURTHER, *RARE, *HEAVY):
            count = (
                runs if name in (*MAIN, *ALIKE[:2]) else max(2, runs * 2 // 5 if name in (*RARE, *HEAVY) else runs // 5)
            )
            print(row(name, count, pool)[0], flush=True)
    finally:
        if pool:
            pool.terminate()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
