/** The stop certificate of an activation, and the records that it is made from. */
import { parseInstant, readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { certifiedKinds, certifiedParts, type PartContent, type StopCertificate, StopCertifier } from "@flyball/rules"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { EPOCH_SCOPE, EXPECTED_SCOPE } from "./epoch-key.ts"
import type { StoredActivation } from "./kill-reader.ts"

/** The first and last record that a pack needs for a certificate. */
export interface CertifiedSpan {
  readonly from: number
  readonly to: number
}

/** A certificate, and the records that it was made from. */
export interface CertifiedStop extends CertifiedSpan {
  readonly certificate: StopCertificate
}

const PAGE = 500

/**
 * The records between the request of an activation, or else its own record, and its release, or else the last of the
 * first `size` records. A `kill.expected` behind the release is the last. Null where its own record is not among these.
 */
export const certifiedSpan = Effect.fnUntraced(function* (
  storage: StorageApi,
  { body, id }: StoredActivation,
  size: number
): Effect.fn.Return<CertifiedSpan | null, ReadFault> {
  const [began] = yield* storage.once(EPOCH_SCOPE, [String(body.epoch)])
  const [released] = body.releaseEpoch === null ? [] : yield* storage.once(EPOCH_SCOPE, [String(body.releaseEpoch)])
  const [expected] = yield* storage.once(EXPECTED_SCOPE, [id])
  if (began === undefined || began.seq >= size) return null
  // The request is sealed by the commit that activates, just before.
  const from = body.requestedBy === null ? began.seq : began.seq - 1
  return { from, to: Math.min(Math.max(released?.seq ?? size - 1, expected?.seq ?? 0), size - 1) }
})

/** Makes the certificate from these records. Null where the activation's own is not among them. */
export const certifyStop = Effect.fnUntraced(function* (
  storage: StorageApi,
  { id }: StoredActivation,
  { from, to }: CertifiedSpan
): Effect.fn.Return<CertifiedStop | null, ReadFault> {
  const certifier = new StopCertifier(id)
  for (let at = from; at <= to;) {
    const page = yield* storage.records({ kinds: [...certifiedKinds], from: at, to, limit: PAGE })
    for (const { bytes, seq } of page) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      const { at: sealed, body: content, kind } = read.record
      const parts = new Map<string, PartContent>()
      if (kind === "kill.expected")
        for (const part of yield* storage.parts([seq]))
          if (certifiedParts.has(part.name) && part.bytes !== null)
            parts.set(part.name, { state: "present", bytes: part.bytes })
      certifier.take({ seq, kind, body: content, parts }, parseInstant(sealed) ?? 0)
    }
    if (page.length < PAGE) break
    at = page.at(-1)!.seq + 1
  }
  const certificate = certifier.report()
  return certificate === null ? null : { from, to, certificate }
})
