/**
 * The shapes that modules share. A scene is what scene.py describes: plain JSON, never changed in place.
 *
 * @typedef {{name: string, x: number, y: number, width: number, height: number, angle: number, weight?: number}} Item
 * @typedef {{rev: number, preset: string, half: number, clients: Item[], generators: Item[]}} Scene
 * @typedef {"clients" | "generators"} Kind
 * @typedef {{kind: Kind, index: number}} Place
 * @typedef {{avg: number[], all: number[], byClient: number[][]}} Aggregates  indexed by generator
 * @typedef {{fid: Aggregates, kid: Aggregates}} Numbers
 * @typedef {{past: Scene[], future: Scene[]}} History
 * @typedef {{get(key: string): any, set(key: string, value: any): void, save_changes(): void,
 *   send(message: any): void, on(event: string, call: () => void): void, off(event: string, call: () => void): void}} Model
 */
export {};
