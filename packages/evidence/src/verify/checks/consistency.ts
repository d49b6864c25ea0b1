/** The older checkpoint in a pack against the pack's own. Spec: format 1 sections 5 and 6. */
import { equalBytes } from "../../bytes.ts"
import type { Crypto } from "../../crypto.ts"
import { verifyConsistency } from "../../merkle/verify.ts"
import type { Findings } from "../findings.ts"
import type { PackCheckpoint } from "./head.ts"

/** Checks that the newer tree begins with the tree of the older checkpoint. `line`: the X line with the proof. */
export const checkOlderCheckpoint = (
  crypto: Crypto,
  findings: Findings,
  claim: { readonly older: PackCheckpoint; readonly newer: PackCheckpoint; readonly proof: ReadonlyArray<Uint8Array> },
  line: number
): boolean => {
  const { newer, older, proof } = claim
  if (older.size === newer.size && !equalBytes(older.root, newer.root)) {
    const expected = `one root for size ${newer.size}`
    findings.add("E_SPLIT_VIEW", { line: older.line, expected, found: "two checkpoints with different roots" })
    return false
  }
  const { root: fromRoot, size: from } = older
  const { root: toRoot, size: to } = newer
  if (verifyConsistency(crypto, { from, to, fromRoot, toRoot, proof })) return true
  findings.add("E_CONSISTENCY", {
    line,
    expected: `a proof that the tree of ${to} records begins with that of ${from}`,
    found: from > to ? "an older checkpoint that is larger" : "a proof that does not show it"
  })
  return false
}
