/** The longest window of all meters. */
import { MAX_ENVELOPE_BYTES, readEnvelope } from "@flyball/envelope"
import { partMembers } from "../records/part-json.ts"

/**
 * The longest window of an envelope's meters, from the bytes of its part; 0 for anything that is no envelope, since
 * nothing is decided under it.
 *
 * - Unit: milliseconds.
 * - Spec: `envelope/1` section 6.
 */
export const longestWindowMs = (part: Uint8Array): number => {
  const reported = partMembers({ state: "present", bytes: part }, MAX_ENVELOPE_BYTES)
  const envelope = reported.state === "known" ? readEnvelope(reported.members).envelope : null
  return Math.max(0, ...(envelope?.meters ?? []).map(({ windowMs }) => windowMs))
}
