/** A waiver as state. Plain data. */
import type { Json } from "../records/record.ts"

/** Collection of the waivers. */
export const WAIVERS = "waivers"

/**
 * A waiver. Its reader decides whether its time is past, and whether its version is in force. Spec: format 1 section 8,
 * `waiver.requested`; decision 0025.
 */
export type WaiverDocument = {
  readonly envelopeId: string
  readonly version: number
  readonly ruleId: string
  readonly expiresAtMs: number
  readonly requestedBy: string
  readonly grantedBy: string | null
  readonly status: "requested" | "granted"
  /** Both null once the part was erased; the waiver then excepts nothing. */
  readonly unless: ReadonlyArray<Json> | null
  readonly reason: string | null
}

/** Members that come from the part `waiver`. */
export const waiverMembers = ["unless", "reason"] as const
