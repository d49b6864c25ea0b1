/**
 * Latches of runs: a document each, which says what is set. Working state: the records say the same, and recomputation
 * holds them together.
 */
import { portableCrypto, toHex, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import type { DocumentPut, ReadFault, StorageApi } from "../../storage/port.ts"
import { foldLatches } from "@flyball/envelope"
import { EVALUATION_SCOPE } from "@flyball/rules"

/** Collection of runs with latches. */
export const LATCHES = "latches"

/** A run as it was read, and as the evaluations planned since leave it. */
export interface RunLatches {
  readonly id: string
  readonly version: number
  readonly before: ReadonlySet<string>
  set: ReadonlySet<string>
  /** By the id of which evaluation each was set first; those of documents without it are missing. */
  readonly by: Map<string, string>
}

/** Reads the latches of a run of an agent. */
export const readRun = (storage: StorageApi, agentId: string, runId: string) => {
  const id = toHex(portableCrypto.sha256(utf8(`flyball/v1 run\0${agentId}\0${runId}`)))
  return Effect.map(storage.get(LATCHES, id), (document): RunLatches => {
    const before = new Set((document?.body["set"] ?? []) as ReadonlyArray<string>)
    return {
      id,
      version: document?.version ?? 0,
      before,
      set: before,
      by: new Map(Object.entries((document?.body["by"] ?? {}) as { readonly [name: string]: string }))
    }
  })
}

/** Adds what one evaluation sets. */
export const addLatches = (run: RunLatches, evaluationId: string, sets: ReadonlyArray<string>): void => {
  for (const name of sets) if (!run.set.has(name)) run.by.set(name, evaluationId)
  run.set = foldLatches(run.set, sets)
}

/** The put of a run whose latches changed; null where they did not, and it is only expected as it was. */
export const runPut = ({ before, by, id, set, version }: RunLatches): DocumentPut | null =>
  [...set].every((name) => before.has(name))
    ? null
    : { collection: LATCHES, id, expectedVersion: version, body: { by: Object.fromEntries(by), set: [...set].sort() } }

/**
 * Latches set in a run before the record at `seq`. A latch lasts, so only those are left out that this evaluation
 * or a later one set.
 */
export const setBefore = Effect.fnUntraced(function* (
  storage: StorageApi,
  { by, set }: RunLatches,
  seq: number
): Effect.fn.Return<ReadonlySet<string>, ReadFault> {
  const setters = new Map(
    (yield* storage.once(EVALUATION_SCOPE, [...new Set(by.values())])).map((one) => [one.key, one.seq])
  )
  return new Set([...set].filter((name) => (setters.get(by.get(name) ?? "") ?? -1) < seq))
})
