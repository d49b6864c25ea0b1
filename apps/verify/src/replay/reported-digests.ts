/** Checks what a record of a draft or a publication states about its parts, as far as they are shown. */
import { MAX_CANONICAL_DEPTH, MAX_PART_BYTES, readJson, toHex } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import type { ActVerdict } from "./act.ts"

/** The hash. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

const digests = [
  ["digest", "envelope"],
  ["backtest_digest", "backtest"],
  ["diff_digest", "diff"],
  ["lint_digest", "lint"]
] as const

/**
 * The first digest that is not that of its part, and a change that is not the one its diff found. Parts that are not
 * shown say nothing: the record is bound to them as it is.
 */
export const digestProblem = ({ body, kind, parts }: ReplayRecord, sha256: Sha256): ActVerdict | null => {
  for (const [member, name] of digests) {
    const part = parts.get(name)
    if (part?.state !== "present") continue
    const digest = toHex(sha256(part.bytes))
    if (body[member] !== undefined && body[member] !== digest)
      return {
        verdict: "digest_mismatch",
        reason: `The part ${name} has the digest ${digest}; the record says ${String(body[member])}.`
      }
  }
  const diff = parts.get("diff")
  if (kind !== "envelope.published" || diff?.state !== "present") return null
  const found = changeOf(diff.bytes)
  return found === body["change"]
    ? null
    : {
        verdict: "digest_mismatch",
        reason:
          "The diff says that the change is " +
          `${typeof found === "string" ? found.slice(0, 32) : typeof found}; the record says ` +
          `${String(body["change"])}.`
      }
}

const changeOf = (bytes: Uint8Array): unknown => {
  const read = readJson(bytes, { maxBytes: MAX_PART_BYTES, maxDepth: MAX_CANONICAL_DEPTH })
  return read.ok ? (read.value as { readonly change?: unknown } | null)?.change : undefined
}
