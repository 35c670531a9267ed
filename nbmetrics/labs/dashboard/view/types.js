/**
 * The shapes that the Dashboard's modules share; see scene.py and metric_view.py.
 *
 * @import { Aggregate, Verdict } from "./verdict.js"
 * @typedef {import("../../toolkit/view/json_numbers.js").Written} Written
 * @typedef {{do: string, clients: string[], name: string}} Change  see changes.py
 * @typedef {{rev: number, preset: string, metric: string, weights: number[], generators: string[], held: string[],
 *   by: "avg" | "all" | "worst", colour: "regret" | "raw", order: string, client: string, generator: string,
 *   regroup?: Change[]}} Scene
 * @typedef {{name: string, rows: number, share: number, classes?: string[]}} ClientFacts
 * @typedef {{name: string, label: string, higher: boolean, best: number | null, same: boolean, corrected: boolean,
 *   pooled?: boolean, distance?: boolean, sure: boolean, why?: string, note: string}} MetricFacts
 * @typedef {{by_client?: boolean, unpooled?: string[], draws?: boolean}} GeneratorFacts  of one distribution for each client, metrics without all, and whether more can be drawn
 * @typedef {Record<string, Record<string, Written[]>>} Cells  by metric and generator, one a client
 * @typedef {{clients: ClientFacts[], generators: Record<string, GeneratorFacts>, metrics: MetricFacts[], values: Cells,
 *   centres: Cells, few?: Record<string, string[]>, regroup?: Change[], leaves?: number[],
 *   tree?: [number, number, number][], ledger?: Cost[], gaps?: Record<string, import("../../toolkit/view/kid_gap.js").PackedGap>}} Board
 * @typedef {{done: number, total: number, doing: string, stopped?: boolean, why?: string}} ProgressFacts  scores known and in all
 * @typedef {{metric: string, aggregate: string, up: [number, number], down: [number, number], reveals: string}} Cost  least and most bytes of a client
 * @typedef {{scale: Written[], int8: string}} PackedDraws
 * @typedef {{value: number, client: number}} Worst  -1 where a client that counts has no score
 * @typedef {{facts: MetricFacts, values: Float64Array[], centres: Float64Array[], isScored: boolean[][],
 *   average: string, avg: number[], plainAvg: number[], all: number[], counted: number[], few: number[], worst: (Worst & {plain: Worst})[], avgLosses: number[], allLosses: number[],
 *   worstLosses: number[], size: number[], isOne: boolean, isNear: boolean, isFar: boolean, isAllKnown: boolean[], byAvg: Aggregate, byAll: Aggregate | null,
 *   errors: {avg: number[] | null, all: number[] | null}, verdict: Verdict & {todo: string}}} Shown  of one metric under the weights on
 *   show, by the generators on show; NaN where there is none. `average` is what the weighted mean over clients is called; `isOne` where there is nothing by all beside avg, `isNear` where all is a first guess for new weights, until
 *   Python has answered, `isFar` where there is not even a guess; `counted` are the weights of decisions by avg, 0 for the clients `few` that they leave out, and
 *   `plainAvg` is under them; `byAll` is null where avg and all are one order: KID, one client, metrics without clients;
 *   `errors` are standard errors of the metric in view, null where none are known; `size` is the gap that numbers of rows alone would make
 * @typedef {{shares: number[], clients: ClientFacts[], metrics: Record<string, Shown>, averages: Record<string, (number | null)[]>,
 *   progress: ProgressFacts, answer: any}} Numbers  `averages` by generator, null where a client is not scored yet; `answer` is what Python said last of these clients
 */
export {};
