/** The input of checkers, and their type. */
import type { StorageApi, StoredRecord } from "@flyball/core/storage"
import { readRecord, type RecordView } from "@flyball/evidence"
import type { SignEntry } from "@flyball/testkit"
import { Effect } from "effect"
import type { Ports } from "../hop.ts"
import type { Agency } from "../agency.ts"
import type { Ledger } from "../ledger.ts"
import type { ArrivedRequest } from "../receivers.ts"

/** A record with its columns and its content. */
export interface ReadRecord extends StoredRecord {
  readonly body: RecordView["body"]
}

/** The world at rest: the real ports, what was signed, what clients know, and the records there are. */
export interface Checked {
  readonly ports: Ports
  readonly origin: string
  readonly signed: ReadonlyArray<SignEntry>
  readonly ledger: Ledger
  /** Requests that reached receivers of webhooks. */
  readonly arrived: ReadonlyArray<ArrivedRequest>
  /** The agents that steps of workflows called; null where there are none. */
  readonly agency: Agency | null
  readonly records: ReadonlyArray<ReadRecord>
  /**
   * True when the store's clock never steps back by more than replay tolerates between the plan of an act and its
   * record. If it may, times of records are not judged.
   */
  readonly isClockSteady: boolean
}

/**
 * Checks a world at rest, and answers its faults as sentences. Each is a file with the name of what it checks.
 */
export type Checker = (world: Checked) => Effect.Effect<ReadonlyArray<string>, unknown>

/** Rows of one page. The port's bound. */
const PAGE = 1_000

/** All records of a store, read. */
export const readRecords = Effect.fnUntraced(function* (storage: StorageApi) {
  const found: Array<ReadRecord> = []
  for (;;) {
    const page: ReadonlyArray<StoredRecord> = yield* storage.records({ from: found.length, limit: PAGE })
    for (const record of page) {
      const view = readRecord(record.bytes)
      found.push({ ...record, body: view.ok ? view.record.body : {} })
    }
    if (page.length < PAGE) return found
  }
})

/** The records of a kind, by what `keyOf` says they are about. */
export const recordsBy = (
  records: ReadonlyArray<ReadRecord>,
  kind: string,
  keyOf: (record: ReadRecord) => string
): ReadonlyMap<string, ReadonlyArray<ReadRecord>> =>
  Map.groupBy(
    records.filter((record) => record.kind === kind),
    keyOf
  )

/** True for a reference of an execution, a plan or an extraction, which no client sends. */
export const isOfEngine = (clientRef: string): boolean => /^(exe|pln|ext)_/.test(clientRef)
