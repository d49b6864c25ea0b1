/** The records of a test's store as replay reads them. */
import type { ReplayRecord } from "@flyball/rules"
import { Effect } from "effect"
import { EvidenceCrypto } from "../foundation/crypto.ts"
import { readRecords } from "../outward/replay/read-records.ts"
import { Storage } from "../storage/port.ts"

/** All records so far, with all their parts. */
export const recorded = Effect.gen(function* () {
  const storage = yield* Storage
  const head = yield* storage.head
  const records: Array<ReplayRecord> = []
  yield* readRecords(
    storage,
    yield* EvidenceCrypto,
    { from: 0, to: head!.seq },
    (record) => void records.push(record),
    () => {},
    "every part"
  )
  return records
})
