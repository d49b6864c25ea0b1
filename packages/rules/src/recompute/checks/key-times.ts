/** Checks that a key was open when it wrote, by the records of its minting and revocation. Spec: decision 0061. */
import { parseInstant } from "@flyball/evidence"
import type { ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { ID_LENGTH } from "../tolerances.ts"

/**
 * How long after the end of a key what it began may be recorded. Unit: milliseconds. A request is authenticated when it
 * begins, and a host that sleeps commits later still: what is later is not called wrong.
 */
const LATE_MS = 300_000

/** The ends of keys up to a record. It grows with keys that have one. */
export class KeyTimes {
  readonly #ends = new Map<string, number>()

  /** Takes the next record; answers where a key wrote it that had ended. `atMs`: the record's own time. */
  take({ body, kind }: ReplayRecord, atMs: number): Problem | null {
    const { expires_at: expires, key_id: id, writer } = body
    if (typeof id === "string" && id.length === ID_LENGTH) {
      if (kind.endsWith("_key.minted") && typeof expires === "string") this.#ends.set(id, parseInstant(expires) ?? atMs)
      if (kind.endsWith("_key.revoked")) this.#ends.set(id, Math.min(atMs, this.#ends.get(id) ?? atMs))
    }
    const end = typeof writer === "string" ? this.#ends.get(writer) : undefined
    return end === undefined || atMs - end <= LATE_MS
      ? null
      : {
          ...problem("withheld", `${String(writer)} had ended more than ${LATE_MS} ms before: revoked, or expired.`),
          because: "key"
        }
  }
}
