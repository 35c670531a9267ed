"""What a Dashboard should say, from rows of features on, by NumPy and SciPy alone: no line of nbmetrics.

Scores are arrays (G, k) or (G,) of generators and clients, and lower is better. Draws are (B, …, G).
"""

import base64
import math
from itertools import combinations

import numpy as np
import scipy.integrate
import scipy.linalg
import scipy.optimize


def moments(rows):
    return rows.mean(axis=0), np.cov(rows, rowvar=False)


def mixed(rows, shares):
    """Mean and covariance of the pooled clients, a row of client i weighing λ_i/n_i; with the ddof of `np.cov`."""
    together = np.concatenate(rows)
    own = np.repeat(np.array(shares) / [len(x) for x in rows], [len(x) for x in rows])
    return own @ together, np.cov(together, rowvar=False, aweights=own)


def root_of(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.clip(values, 0, None))


def frechet(first, second):
    """The Fréchet distance of two distributions given by mean and covariance, by the square root of a matrix."""
    (m, c), (n, e) = first, second
    return float(np.sum((m - n) ** 2) + np.trace(c + e) - 2 * np.trace(scipy.linalg.sqrtm(c @ e)).real)


def without_bias(rows, made, points=500):
    """FID of the distributions behind two samples: Marchenko and Pastur's map of both, and a term of the fourth
    moments.

    λ are the eigenvalues of C C_G, S(t) = Σ λ/(λ+t); rows see M̂ = C_G^{1/2} C C_G^{1/2} and the other way round.
    """
    (m, c), (g, e) = moments(rows), moments(made)
    n, k = len(rows) - 1, len(made) - 1
    roots = [scipy.linalg.sqrtm(one).real for one in (c, e)]
    values, vectors = np.linalg.eigh(roots[1] @ c @ roots[1])
    other, turned = np.linalg.eigh(roots[0] @ e @ roots[0])
    u = np.linspace(math.log(values[0]) - 14, math.log(values[-1]) + 15, points)
    t = np.exp(u)

    def integral(f):
        return scipy.integrate.trapezoid(f * t, u)

    inverse = 1 / (values + t[:, None])
    s, fall, square = inverse @ values, inverse**2 @ values, inverse**2 @ values**2
    w = t / ((1 - s / n) * (1 - s / k))
    trace = np.sqrt(values).sum() + 2 / np.pi * integral((np.sqrt(w) - np.sqrt(t)) * fall)
    for x, root, own, axes, count in ((rows, roots[1], values, vectors, n), (made, roots[0], other, turned, k)):
        q = 1 - s / count
        slope = (q - t * fall / count) / q**2
        h = (len(x) / count**2) * ((x - x.mean(axis=0)) @ root @ axes) ** 2 @ (1 / (own[:, None] + t))
        rest = h / np.maximum(1 - h, 0.4 * q)  # a row almost alone in a direction does not decide all
        out = np.var(count * rest * q, axis=0) - (s - t / q * fall / slope)
        inside = np.var(count * h, axis=0) - square
        trace += integral(np.sqrt(q / t) * out * slope + inside / np.sqrt(t)) / (8 * np.pi * count)
    shift = np.sum((m - g) ** 2) - np.trace(c) / len(rows) - np.trace(e) / len(made)
    return float(shift + np.trace(c + e) - 2 * trace)


def bias_of_all(rows, shares, made, rng, runs=10):
    """How much too large FID-all comes out of so many rows, were the clients and the generator normal as they look.

    What is linear in the moments has no bias, and is taken off each run, as it is most of the spread.
    """
    distributions, distribution, shares = [moments(x) for x in rows], moments(made), np.array(shares)
    sizes, means = np.array([len(x) for x in rows]), np.array([m for m, _ in distributions])
    centre, covs = shares @ means, np.array([c for _, c in distributions])
    between = np.einsum("i,ij,ik->jk", shares, means - centre, means - centre)
    cov = np.einsum("i,ijk->jk", shares, covs) + between
    lost = shares**2 / sizes
    expected = (cov - np.einsum("i,ijk->jk", lost, covs)) / (1 - lost.sum())
    root = root_of(cov)
    turn = np.linalg.pinv(root)
    carried = turn.T @ scipy.linalg.sqrtm(root.T @ distribution[1] @ root).real @ turn  # T with T C T = C_G
    slopes = np.eye(len(cov)) - carried, np.eye(len(cov)) - np.linalg.pinv(carried)
    roots, found = [root_of(c) for _, c in (*distributions, distribution)], []
    for _ in range(runs):
        noise = [rng.normal(size=x.shape) @ r.T for x, r in zip((*rows, made), roots, strict=True)]
        again = [m + x for m, x in zip((*means, distribution[0]), noise, strict=True)]
        real, generated = mixed(again[:-1], shares), moments(again[-1])
        moved = 2 * (centre - distribution[0]) @ (real[0] - centre - generated[0] + distribution[0])
        moved += np.sum(slopes[0] * (real[1] - expected)) + np.sum(slopes[1] * (generated[1] - distribution[1]))
        found.append(frechet(real, generated) - moved)
    return np.mean(found) - frechet((centre, cov), distribution), np.std(found) / math.sqrt(runs)


class Kernel:
    """The cubic kernel of all rows of clients and generators, and means of it over pairs of rows."""

    def __init__(self, clients, generators):
        self.sizes = [len(x) for x in (*clients, *generators)]
        self.clients = len(clients)
        rows = np.concatenate([*clients, *generators])
        self.values = (rows @ rows.T / rows.shape[1] + 1) ** 3
        self.parties = np.split(np.arange(len(rows)), np.cumsum(self.sizes)[:-1])

    def means(self, kept=None):
        """Means over pairs of the kept rows, of different ones within a party: (k + G, k + G)."""
        parties = self.parties if kept is None else kept
        size = np.array([len(p) for p in parties], dtype=float)
        spread = np.zeros((len(parties), len(self.values)))
        for p, own in enumerate(parties):
            spread[p, own] = 1.0
        sums = spread @ self.values @ spread.T
        found = sums / np.outer(size, size)
        own = np.diag(sums) - spread @ np.diag(self.values)
        found[np.diag_indices(len(parties))] = own / (size * (size - 1))
        return found

    def real(self, shares):
        """E k(X, X′) of the pooled clients, each a sample of its own."""
        return shares @ self.means()[: self.clients, : self.clients] @ shares

    def real_as_one(self, shares):
        """The same of one weighted sample: all pairs of different rows, weighed by λ_i/n_i each."""
        own = np.concatenate([np.full(n, s / n) for n, s in zip(self.sizes[: self.clients], shares, strict=True)])
        block = self.values[: len(own), : len(own)]
        return (own @ block @ own - own**2 @ np.diag(block)) / (1 - own @ own)

    def scores(self):
        """KID (G, k)."""
        means, k = self.means(), self.clients
        return np.diag(means)[k:, None] + np.diag(means)[:k] - 2 * means[k:, :k]

    def scores_of_all(self, shares):
        """KID-all (G,) without bias, and as other packages have it of the rows put together."""
        means, k = self.means(), self.clients
        rest = np.diag(means)[k:] - 2 * means[k:, :k] @ shares
        return rest + self.real(shares), rest + self.real_as_one(shares)

    def errors(self, shares):
        """Standard errors of the differences of the generators' KID-avg, (G, G): rows left out one by one."""
        k, size = self.clients, np.array(self.sizes, dtype=float)
        generators = range(k, len(size))
        sums = np.stack([self.values[:, own].sum(axis=1) for own in self.parties], axis=1)  # of each row with a party
        means, diagonal = self.means(), np.diag(self.values)

        def variance(values):
            return (len(values) - 1) / len(values) * np.sum((values - values.mean(axis=0)) ** 2, axis=0)

        found = np.zeros((len(size) - k,) * 2)
        for i, share in enumerate(shares):  # the clients' own term is in both
            own = self.parties[i]
            left = (size[i] * size[k:] * means[i, k:] - sums[own, k:]) / ((size[i] - 1) * size[k:])
            found += variance(-2 * share * (left[:, :, None] - left[:, None, :]))
        for g in generators:
            own, n = self.parties[g], size[g]
            pairs = n * (n - 1) * means[g, g] - 2 * (sums[own, g] - diagonal[own])
            left = (n * size[:k] * means[g, :k] - sums[own, :k]) / ((n - 1) * size[:k])
            part = variance(pairs / ((n - 1) * (n - 2)) - 2 * left @ shares)
            found[g - k] += part
            found[:, g - k] += part
        return np.sqrt(found - np.diag(np.diag(found)))

    def quadratic(self, shares, chosen, means=None):
        """Q, c and r with KID-all of the mixture α of the chosen generators = r + αᵀQα − 2αᵀc."""
        means, k = self.means() if means is None else means, self.clients
        which = [k + g for g in chosen]
        return means[np.ix_(which, which)], means[which, :k] @ shares, self.real(shares)


def p_of_alike(clients, settings, rng, deals=199):
    """By setting of weights the share of deals of the rows to the clients whose KID gap is at least the given one."""
    sizes = [len(x) for x in clients]
    rows = np.concatenate(clients)
    rows = rows - rows.mean(axis=0)
    values = (rows @ rows.T / rows.shape[1] + 1) ** 3
    np.fill_diagonal(values, 0)
    pairs, gaps = np.array(sizes) * (np.array(sizes) - 1.0), []
    labels = np.repeat(np.arange(len(sizes)), sizes)
    for deal in range(deals + 1):
        dealt = labels if deal == 0 else rng.permutation(labels)
        spread = (dealt[:, None] == np.arange(len(sizes))).astype(float)
        sums = spread.T @ values @ spread
        own = np.array(settings) / sizes
        pool = np.einsum("wi,ij,wj->w", own, sums, own) / (1 - own**2 @ sizes)
        gaps.append(np.array(settings) @ (np.diag(sums) / pairs) - pool)
    return np.mean(np.array(gaps) >= gaps[0] - 1e-9 * np.abs(gaps[0]), axis=0)


def drawn(packed):
    """Draws (B, columns) as they were published: whole numbers, and what one of each column is worth."""
    scale = np.array([math.nan if s == "nan" else s for s in packed["scale"]])
    return np.frombuffer(base64.b64decode(packed["int8"]), dtype=np.int8).reshape(-1, len(scale)) * scale


def deciding(shares, few):
    """λ of the clients with rows enough, of sum 1; None where they hold less than half of the weight."""
    kept = np.array([0.0 if why else share for share, why in zip(shares, few, strict=True)])
    return kept / kept.sum() if kept.sum() >= 0.5 else None


def beaten(losses, draws):
    """The pairs (a, b) of which a is shown to be better: all of them at once, 95 %."""
    pairs = list(combinations(range(len(losses)), 2))
    apart = {(a, b): draws[:, a] - draws[:, b] for a, b in pairs}
    sure = {pair: own.std() for pair, own in apart.items()}
    largest = np.max([np.abs(apart[pair]) / sure[pair] for pair in pairs], axis=0)
    beyond = sorted(largest)[math.ceil(0.95 * (len(draws) + 1)) - 1]
    told = [pair for pair in pairs if abs(losses[pair[0]] - losses[pair[1]]) > beyond * sure[pair]]
    return {(a, b) if losses[a] < losses[b] else (b, a) for a, b in told}


def places(losses, told):
    """The lowest and the highest place of each."""
    count = len(losses)
    return [(1 + sum(b == g for _, b in told), count - sum(a == g for a, _ in told)) for g in range(count)]


def ahead(losses, told):
    """The first, and all that it does not beat."""
    first = int(np.argmin(losses))
    return {g for g in range(len(losses)) if (first, g) not in told}


def judged(plain, centres, draws, p):
    """State, leaders by avg and leaders by all; each argument but p holds those of avg and those of all, or of avg."""
    tops = [int(np.argmin(one)) for one in plain]
    if any(one is None for one in draws):
        return "unknown", {tops[0]}, {tops[-1]}
    lead = [ahead(one, beaten(one, own)) for one, own in zip(centres, draws, strict=True)]
    if not lead[0] & lead[-1] and p <= 0.05:
        return "disagree", lead[0], lead[-1]
    if tops[0] != tops[-1]:
        return "size", lead[0], lead[-1]
    return ("winner" if lead[0] == lead[-1] and len(lead[0]) == 1 else "tie"), lead[0], lead[-1]


def dethroning(centres, shares):
    """The least weight that has to move so that another generator is level with the winner by avg; by which."""
    scores, k = centres @ shares, len(shares)
    winner, found = int(np.argmin(scores)), {}
    for rival in set(range(len(scores))) - {winner}:
        behind = centres[rival] - centres[winner]  # λ′ = λ − out + in
        solved = scipy.optimize.linprog(
            np.r_[np.ones(k), np.zeros(k)],
            A_ub=[np.r_[-behind, behind]],
            b_ub=[-behind @ shares],
            A_eq=[np.r_[np.ones(k), -np.ones(k)]],
            b_eq=[0.0],
            bounds=[*((0.0, share) for share in shares), *[(0.0, None)] * k],
        )
        if solved.status == 0:
            found[rival] = solved.fun
    rival = min(found, key=found.get, default=None)
    return (winner, rival, None if rival is None else found[rival])


def simplex(steps):
    """All points of the simplex of three shares that are multiples of 1/steps, (points, 3)."""
    return np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps


def solved(q, c, start):
    """The least αᵀQα − 2αᵀc over the simplex that SLSQP finds from there: value and α."""
    found = scipy.optimize.minimize(
        lambda a: a @ q @ a - 2 * a @ c,
        start,
        jac=lambda a: 2 * (q @ a - c),
        method="SLSQP",
        bounds=[(0, 1)] * len(c),
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.fun, found.x


def least(q, c):
    """The least that SLSQP finds from the best vertex and from the middle."""
    starts = np.eye(len(c))[(np.diag(q) - 2 * c).argmin()], np.full(len(c), 1 / len(c))
    return min((solved(q, c, start) for start in starts), key=lambda one: one[0])


def cross_fitted(kernel, shares, rng):
    """KID-all of the mixture of all generators that is best on one random half of all rows, on the other half."""
    cut = [np.array_split(rng.permutation(own), 2) for own in kernel.parties]
    everyone = range(len(kernel.parties) - kernel.clients)
    halves = [kernel.quadratic(shares, everyone, kernel.means([own[side] for own in cut])) for side in (0, 1)]
    chosen = [least(q, c)[1] for q, c, _ in halves]
    return np.mean([r + a @ q @ a - 2 * a @ c for a, (q, c, r) in zip(chosen, halves[::-1], strict=True)])
