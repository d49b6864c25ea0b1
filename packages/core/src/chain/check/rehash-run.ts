/**
 * A stretch of stored records, hashed again and folded. Pure, and without Effect, so that a storage can do it in a
 * thread of its own.
 *
 * New records are read and hashed again before anything is signed for them. This is that check, in whichever thread.
 */
import type { Crypto } from "@flyball/evidence"
import { foldRun } from "@flyball/evidence"
import type { Rehashed, StoredRecord } from "../../storage/port.ts"
import type { Previous } from "./check-record.ts"
import { RecordGauge } from "./record-gauge.ts"

/**
 * Rehashes ranges one after another. Keep one instance: it reuses its buffers. Spec: format 1 section 4, "Signing
 * guard".
 */
export class Rehasher {
  readonly #crypto: Crypto
  readonly #gauge: RecordGauge

  constructor(crypto: Crypto) {
    this.#crypto = crypto
    this.#gauge = new RecordGauge(crypto)
  }

  /**
   * Folds the hashes of these bytes; null for no record, and where a record may be invalid, which `checkRecord`
   * decides.
   */
  fold(records: ReadonlyArray<StoredRecord>, previous: Previous | null): Rehashed | null {
    const hashes = new Uint8Array(32 * records.length)
    let last = previous
    for (let index = 0; index < records.length; index++) {
      last = this.#gauge.next(records[index]!, last)
      if (last === null) return null
      hashes.set(last.hash, 32 * index)
    }
    if (last === null || records.length === 0) return null
    return { subtrees: foldRun(this.#crypto, last.seq + 1 - records.length, hashes, records.length), last }
  }
}
