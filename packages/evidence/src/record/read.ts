/** Reads one record into values. */
import { formatInstant } from "./instant.ts"
import { RECORD_VERSION, type RecordProblem, type RecordView } from "./record.ts"
import { RecordScanner } from "./scan.ts"

/** A record as values, or the problem with it. */
export type ReadRecord = { readonly ok: true; readonly record: RecordView } | ({ readonly ok: false } & RecordProblem)

const scanner = new RecordScanner()

/**
 * Reads a record that is to be complete and right in itself.
 *
 * - Fails: never throws; answers the code a verifier would report. `E_TIME`: `at` is no real instant.
 * - Spec: format 1 section 1.
 */
export const readRecord = (bytes: Uint8Array): ReadRecord => {
  const problem = scanner.scan(bytes)
  if (problem !== null) return { ok: false, ...problem }
  if (Number.isNaN(scanner.atMs))
    return {
      ok: false,
      code: "E_TIME",
      expected: "at: a real instant, YYYY-MM-DDTHH:MM:SS.mmmZ",
      found: "another text"
    }
  return {
    ok: true,
    record: {
      at: formatInstant(scanner.atMs),
      atMs: scanner.atMs,
      body: scanner.body(),
      kind: scanner.kind(),
      parts: scanner.parts(),
      prev: scanner.prev(),
      seq: scanner.seq,
      v: RECORD_VERSION
    }
  }
}
