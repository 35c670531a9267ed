/**
 * The shapes that the Monitor's modules share; see scene.py and page_encoding.py.
 *
 * @typedef {{rev: number, preset: string, metric: string, weights: number[], shown: number | null, client: string}} Scene
 * @typedef {{name: string, label: string, higher: boolean, best: number | null, kind: string, of: string}} MetricFacts  `of` is the metric whose intra it is, else ""
 * @typedef {{clients: string[], weights: number[], metrics: MetricFacts[], code: string,
 *   gaps: Record<string, import("../../toolkit/view/kid_gap.js").PackedGap>, kept: boolean}} Run
 * @typedef {{metric: number, label: string, steps: string, clients: string, avg: string, all: string, gap: string, errors: string, moves?: boolean}} PackedLine
 * @typedef {{lines?: Record<string, PackedLine>, losses?: Record<string, {steps: string, values: string}>, left_out?: number, id?: number, of?: number}} Packed
 * @typedef {{name: string, metric: number, label: string, steps: Float64Array, clients: Float32Array, avg: Float64Array,
 *   all: Float64Array, gap: Float64Array, errors: Float32Array, moves: boolean}} Stored  `clients` are the scores of all
 *   clients at one step after another, `errors` the standard errors of avg, all and gap; where the line `moves`, the
 *   clients’ scores follow the weights, too
 * @typedef {{name: string, steps: Float64Array, values: Float64Array}} Series
 * @typedef {{stored: Stored, facts: MetricFacts, clients: Float32Array | null, avg: Float64Array | null,
 *   all: Float64Array | null, gap: Float64Array | null, errors: Float32Array | null, isFirstOrder: boolean, best: {avg: number | null, all: number | null}}} Line  under the
 *   weights on show; null where Python has to say it; intra has no `all` and no `gap`
 * @typedef {{steps: Float64Array, lines: Line[], losses: Series[], leftOut: number}} History  `steps` are all that were logged
 * @typedef {{name?: string, why?: string, run?: Run, past?: Packed}} Beside
 * @typedef {{name: string, lines: Line[], steps: Float64Array}} Other  the run beside, its lines under the same weights
 * @typedef {{step: number, alarm: string, words: string}} Alarm
 * @typedef {{best: {avg: number | null, all: number | null}, headline?: string, words?: string, status?: string, note?: string, sets?: {avg: number[], all: number[]} | null,
 *   steps?: string, all?: string, avg?: string, clients?: string, errors?: string, kind?: string}} Judgement  of a line
 * @typedef {{history: History, shares: number[], judgement: Record<string, Judgement> | null, alarms: Alarm[], step: number | null,
 *   steps: Float64Array, other: Other | null, versus: Record<string, string>, isFollowing: boolean}} Numbers  `judgement` is what Python says under these weights, null until it has; `step` is the
 *   one on show, null where there is none, of all `steps` of this run and the other; `versus` are the words of both
 */
export {};
