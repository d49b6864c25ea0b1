/**
 * Checks that a granted waiver is the requested one, and that another person granted it. Spec: decisions 0025 and 0026.
 */
import { type JsonObject, toHex } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import type { ActVerdict } from "./act.ts"
import type { People } from "./people.ts"
import type { Sha256 } from "./reported-digests.ts"

/** A waiver as it was requested. `content`: digest of the part; null where it is not shown. */
export interface Requested {
  readonly body: JsonObject
  readonly content: string | null
}

/** Reads the content of a request. */
export const requestOf = ({ body, parts }: ReplayRecord, sha256: Sha256): Requested => ({
  body,
  content: contentOf(parts.get("waiver"), sha256)
})

/** Members that grant and request share, by their names in each. */
const sharedMembers = [
  ["requested_by", "writer"],
  ["envelope_id", "envelope_id"],
  ["version", "version"],
  ["rule_id", "rule_id"],
  ["expires_at", "expires_at"]
] as const

/**
 * Finds the problem with a grant.
 *
 * `requested`: its request; null where there was none, undefined where that is not known.
 */
export const grantProblem = (
  { body, parts }: ReplayRecord,
  requested: Requested | null | undefined,
  people: People,
  sha256: Sha256
): ActVerdict | null => {
  const writer = String(body["writer"])
  if (writer === body["requested_by"])
    return { verdict: "second_person_missing", reason: `${writer} requested it and granted it.` }
  if (requested?.body["writer"] === writer)
    return {
      verdict: "second_person_missing",
      reason:
        `${writer} requested it and granted it; the record of the grant says that ` +
        `${String(body["requested_by"])} requested it.`
    }
  const same = people.problem(
    [String(body["requested_by"]), String(requested?.body["writer"] ?? body["requested_by"])],
    writer
  )
  if (same?.verdict === "second_person_missing") return same
  if (requested === null) return { verdict: "waiver_mismatch", reason: "No record before it requests it." }
  if (requested === undefined)
    return { verdict: "withheld", reason: "Its request is from before the first record here, or cannot be read." }
  for (const [name, wanted] of sharedMembers) {
    if (body[name] !== requested.body[wanted])
      return {
        verdict: "waiver_mismatch",
        reason: `The request says ${String(requested.body[wanted])} for ${name}; the grant says ${String(body[name])}.`
      }
  }
  const granted = contentOf(parts.get("waiver"), sha256)
  if (granted === null || requested.content === null)
    return { verdict: "withheld", reason: "The request or the grant is not shown." }
  return granted === requested.content
    ? same
    : { verdict: "waiver_mismatch", reason: "Its exception, or its reason, differs from the request." }
}

const contentOf = (part: ReturnType<ReplayRecord["parts"]["get"]>, sha256: Sha256): string | null =>
  part?.state === "present" ? toHex(sha256(part.bytes)) : null
