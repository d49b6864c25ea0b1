/** Packs: what was handed out verifies with the chain's key, and its export is on record once. */
import { parseVkey, formatVkey, verifyPack } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect } from "effect"
import { type Checker, recordsBy } from "./checked.ts"

/** Verifies every pack that came to its end at a client. */
export const packsChecker: Checker = ({ ledger, origin, ports, records }) =>
  Effect.gen(function* () {
    const vkey = formatVkey(origin, ports.signer.publicKey)
    const problems = parseVkey(vkey).ok ? [] : ["packs: the signer has no usable key"]
    const exported = recordsBy(records, "evidence.exported", ({ body }) => String(body["pack_id"]))
    for (const [id, all] of exported)
      if (all.length > 1) problems.push(`packs: the export of ${id} is recorded ${all.length} times`)
    for (const { bytes, packId } of ledger.packs) {
      const report = yield* Effect.promise(() => verifyPack(nodeCrypto, [bytes], { vkeys: [vkey] }))
      if (report.verdicts.integrity !== "ok" || report.verdicts.authenticity !== "signed_by_pinned_key")
        problems.push(`packs: ${packId} has the verdicts ${JSON.stringify(report.verdicts)}`)
      if (!exported.has(packId)) problems.push(`packs: ${packId} was handed out whole, and no record says so`)
    }
    return problems
  })
