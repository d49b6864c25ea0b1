/** Checks stored parts against the commitments in their records. */
import type { Crypto, RecordView } from "@flyball/evidence"
import { readRecord, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import type { StorageApi, StoredPart } from "../../storage/port.ts"
import type { ChainFinding } from "./findings.ts"

/** A record whose parts are checked; `view` is null where its bytes could not be read. */
export interface RecordWithParts {
  readonly seq: number
  readonly view: RecordView | null
}

/**
 * Compares each part with its commitment, and each erased part with the record that says so.
 *
 * - Spec: chain-format section 3: disclosed and verified, erased and recorded, or missing and unexplained.
 */
export const checkParts = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  records: ReadonlyArray<RecordWithParts>
) {
  const findings: Array<ChainFinding> = []
  const seqs = records.map(({ seq }) => seq)
  const stored = new Map<string, StoredPart>()
  if (seqs.length > 0) for (const part of yield* storage.parts(seqs)) stored.set(`${part.seq}/${part.name}`, part)
  for (const { seq, view } of records) {
    for (const { c, name } of view?.parts ?? []) {
      const part = stored.get(`${seq}/${name}`)
      stored.delete(`${seq}/${name}`)
      if (part === undefined) {
        findings.push({
          code: "E_PART_UNEXPLAINED",
          seq,
          expected: `part ${name}, or the record of its erasure`,
          found: "neither"
        })
      } else if (part.erasedBy === null) {
        const found = toHex(crypto.commitment(part.salt, name, part.bytes))
        if (found !== c)
          findings.push({ code: "E_PART_MISMATCH", seq, expected: `part ${name} with commitment ${c}`, found })
      } else if (!(yield* saysErased(storage, part.erasedBy, seq, name))) {
        findings.push({
          code: "E_PART_UNEXPLAINED",
          seq,
          expected: `record ${part.erasedBy} to say that part ${name} was erased`,
          found: "it does not"
        })
      }
    }
  }
  for (const part of stored.values()) {
    const { view } = records.find(({ seq }) => seq === part.seq) ?? { view: null }
    if (view !== null)
      findings.push({
        code: "E_PART_MISMATCH",
        seq: part.seq,
        expected: "only parts that the record names",
        found: `part ${part.name}`
      })
  }
  return findings
})

const saysErased = Effect.fnUntraced(function* (storage: StorageApi, erasedBy: number, seq: number, name: string) {
  const record = erasedBy > seq ? yield* storage.record(erasedBy) : null
  const read = record === null ? null : readRecord(record.bytes)
  return (
    read !== null &&
    read.ok &&
    read.record.kind === "part.erased" &&
    read.record.body["seq"] === seq &&
    read.record.body["name"] === name
  )
})
