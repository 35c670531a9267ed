/**
 * The shapes that modules share. A scene is what each lab's scene.py describes: plain JSON, never changed in place.
 *
 * A Gaussian item is its 1σ ellipse; "bumps" are two equal round Gaussians, σ = height, at the ends of its width;
 * "truncated" is the clients' mixture shrunk about its mean by psi; "copycat" repeats the first `count` points that the
 * client `of` draws; "data" are rows that Python holds, with their fitted ellipse; "by_client" has an ellipse for each
 * client, its `parts`, each under the name of the client that it is for.
 *
 * @typedef {{name: string, kind?: "bumps" | "truncated" | "copycat" | "data" | "by_client", x: number, y: number, width: number,
 *   height: number, angle: number, weight?: number, psi?: number, of?: string, count?: number, data?: string,
 *   parts?: Item[]}} Item
 * @typedef {{metric: string, panel: string, sweep: string, aligned: boolean}} View  what is charted, in which panel,
 *   over which parameter, and whether the constant gap is taken off
 * @typedef {{name: string, guess: number | null, revealed: boolean, about: Record<string, string>, answer: number | null,
 *   other: number | null}} Progress  of a lesson: `about` has what the generators that it names are called now, `answer`
 *   what Reveal found, and `other` that of the other aggregate
 * @typedef {{rev: number, preset: string, half: number, clients: Item[], generators: Item[], samples?: number,
 *   seed?: number, view?: View, lesson?: Progress | null, plane?: Shadow}} Scene
 * @typedef {{dim: number, kind: string, columns: string[], words: string}} Shadow  of rows wider than the plane: how many
 *   features they have, and in words which two directions are shown
 * @typedef {{count: number, mean: number[], cov: number[], phi: number[], diagonal: number, points: number[][]}} Data
 * @typedef {[number, number]} Point
 * @typedef {{distribution: Distribution, weight: number}} Part
 * @typedef {{x: number, y: number, a: number, b: number, c: number, rootDet: number, spokes: number[][], count: number,
 *   parts: Part[] | null, phi: number[] | null, lost: number, lostDiagonal: number, points: Float64Array | null,
 *   own?: Distribution[]}} Distribution
 *   mean, covariance [[a, b], [b, c]] and √det; `count` rows or Infinity; `lost` = Σλ²/n and `lostDiagonal` = Σλ²k(x,x)/n
 *   take the pairs of a row with itself out of kernel means; `own` of a generator with an ellipse for each client, what it
 *   is for each, in the order of the clients
 * @typedef {"clients" | "generators"} Kind
 * @typedef {{kind: Kind, index: number, part?: number}} Place  of an item, or of one of its parts
 * @typedef {{avg: number[], all: number[], byClient: number[][], intra?: number[], own?: number[][], terms?: number[],
 *   isBehind?: boolean}} Aggregates  indexed by generator; `intra` and `own`, each client's score with what is for it, where
 *   some generator has an ellipse for each client;
 *   `terms` of each the size of what it is summed from, where the page sums it itself;
 *   `isBehind` where all is of other weights
 * @typedef {Record<string, Aggregates> & {fid: Aggregates, kid: Aggregates}} Numbers  by metric, those the page can compute
 * @typedef {{past: Scene[], future: Scene[]}} History
 * @typedef {{get(key: string): any, set(key: string, value: any): void, save_changes(): void,
 *   send(message: any): void, on(event: string, call: (...given: any[]) => void): void,
 *   off(event: string, call: (...given: any[]) => void): void, page?(): string}} Model  `page` where there is no Python:
 *   the page itself, as it would be saved now
 */
export {};
