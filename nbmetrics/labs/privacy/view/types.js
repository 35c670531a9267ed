/**
 * The shapes that the PrivacyLab's modules share; see scene.py, study.py and numbers.py.
 *
 * @typedef {{rev: number, preset: string, of: string, epsilon: number, metric: string, aggregate: string, run: number}} Scene
 * @typedef {{of: string, about: string, code: string, epsilons: number[], multipliers: number[],
 *   metrics: {name: string, label: string}[], generators: string[], exact: number[][][], clipped: number[][][],
 *   drawn: number[][][][][], kept: number[][][], low: number[][][], high: number[][][], delta: number, clip: number,
 *   rows: [number, number], clients: number}} Study  `drawn` by ε, run, metric, aggregate and generator; `kept`, `low`
 *   and `high` by ε, metric and aggregate
 * @typedef {{place: number, epsilon: number, multiplier: number, order: number[], exact: number[], drawn: number[][],
 *   shown: number[], places: number[], first: number[], kept: number, low: number, high: number, same: number,
 *   clipped: number, survives: number | null}} Numbers
 */
export {};
