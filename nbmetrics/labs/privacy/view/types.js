/**
 * The shapes that the PrivacyLab's modules share; see scene.py, study.py and numbers.py.
 *
 * @typedef {{rev: number, preset: string, of: string, epsilon: number, metric: string, aggregate: string, run: number}} Scene
 * @typedef {{best: number, rival: number, kept: number, low: number, high: number, kept_if_reversed: number,
 *   reversed_low: number, reversed_high: number, apart: string, moved: string, survives: boolean}} Pair  see `_of_pair`
 *   of study.py
 * @typedef {{of: string, about: string, code: string, epsilons: number[], multipliers: number[],
 *   metrics: {name: string, label: string}[], generators: string[], exact: number[][][], clipped: number[][][],
 *   drawn: number[][][][][], pairs: Pair[][][], clips: boolean[][], delta: number, clip: number,
 *   rows: [number, number], clients: number}} Study  `drawn` by ε, run, metric, aggregate and generator; `pairs` by ε,
 *   metric and aggregate
 * @typedef {{place: number, epsilon: number, multiplier: number, order: number[], exact: number[], drawn: number[][],
 *   shown: number[], places: number[], first: number[], kept: number, low: number, high: number, pair: Pair, same: number, clipped: number, clips: boolean,
 *   survives: number | null}} Numbers
 */
export {};
