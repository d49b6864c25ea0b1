/** Latches of runs: a document each, which says what is set. Working state: the records say the same, and recomputation holds them together. */
import { portableCrypto, toHex, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import type { DocumentPut, StorageApi } from "../storage/port.ts"
import { foldLatches } from "../envelopes/rules/latches.ts"

/** Collection of runs with latches. */
export const LATCHES = "latches"

/** A run as it was read, and as the evaluations planned since leave it. */
export interface RunLatches {
  readonly id: string
  readonly version: number
  readonly before: ReadonlySet<string>
  set: ReadonlySet<string>
}

/** Reads the latches of a run of an agent. */
export const readRun = (storage: StorageApi, agentId: string, runId: string) => {
  const id = toHex(portableCrypto.sha256(utf8(`flyball/v1 run\0${agentId}\0${runId}`)))
  return Effect.map(storage.get(LATCHES, id), (document): RunLatches => {
    const before = new Set((document?.body["set"] ?? []) as ReadonlyArray<string>)
    return { id, version: document?.version ?? 0, before, set: before }
  })
}

/** Adds what one evaluation sets. */
export const addLatches = (run: RunLatches, sets: ReadonlyArray<string>): void => {
  run.set = foldLatches(run.set, { sets, clears: [] })
}

/** The put of a run whose latches changed; null where they did not, and it is only expected as it was. */
export const runPut = ({ before, id, set, version }: RunLatches): DocumentPut | null =>
  [...set].every((name) => before.has(name)) ? null : { collection: LATCHES, id, expectedVersion: version, body: { set: [...set].sort() } }
