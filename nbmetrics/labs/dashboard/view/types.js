/**
 * The shapes that the Dashboard's modules share; see scene.py and board.py.
 *
 * @typedef {number | "nan" | "inf" | "-inf" | null} Written  a number as JSON has it; null where it is not known yet
 * @typedef {{rev: number, preset: string, metric: string, weights: number[], generators: string[], held: string[],
 *   by: "avg" | "all" | "worst", colour: "regret" | "raw", order: string, client: string, generator: string,
 *   groups: number[]}} Scene
 * @typedef {{name: string, rows: number, share: number}} ClientFacts
 * @typedef {{name: string, label: string, higher: boolean, best: number | null, same: boolean, corrected: boolean,
 *   sure: boolean, note: string}} MetricFacts
 * @typedef {Record<string, Record<string, Written[]>>} Cells  by metric and generator, one a client
 * @typedef {{clients: ClientFacts[], generators: Record<string, {rows?: number}>, metrics: MetricFacts[], values: Cells,
 *   centres: Cells, leaves?: number[], tree?: [number, number, number][], few?: Record<string, string[]>, filled: {done: number, total: number, doing: string}}} Board
 * @typedef {{scale: Written[], int8: string}} PackedDraws
 * @typedef {{facts: MetricFacts, values: Float64Array[], centres: Float64Array[], known: boolean[][],
 *   avg: number[], all: number[], worst: {value: number, client: number}[], avgLosses: number[], allLosses: number[],
 *   worstLosses: number[], isNear: boolean}} Shown  of one metric under the weights on show, by the generators on show;
 *   NaN where there is none. `isNear` where all is a first guess for new weights, until Python has answered
 * @typedef {{shares: number[], clients: ClientFacts[], metrics: Record<string, Shown>}} Numbers
 */
export {};
