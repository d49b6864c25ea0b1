/** The last check of the kill switch's channel as state. */
import { parseInstant } from "@flyball/evidence"
import type { ExpectedDocument, ReplayRecord } from "../records/record.ts"

/** Collection of the last check of the kill switch's channel. */
export const CHANNEL_CHECKS = "channel_checks"

/** Id of the one document in {@link CHANNEL_CHECKS}. */
export const CHANNEL_CHECK_ID = "last"

/** The last check. Spec: format 1 section 8, `channel.checked`; decision 0048. */
export type ChannelDocument = {
  readonly activationId: string
  /** True when the activation and its release both showed in the status. */
  readonly armed: boolean
  /** From the request until the status showed the activation. Unit: milliseconds. Null where it never did. */
  readonly latencyMs: number | null
  readonly checkedAtMs: number
}

/** The document after `channel.checked`: the newest counts. */
export const foldChannelChecked = ({ body }: ReplayRecord): ExpectedDocument => {
  const check: ChannelDocument = {
    activationId: String(body["activation_id"]),
    armed: body["armed"] === true,
    latencyMs: typeof body["latency_ms"] === "number" ? body["latency_ms"] : null,
    checkedAtMs: parseInstant(String(body["checked_at"])) ?? 0
  }
  return {
    collection: CHANNEL_CHECKS,
    id: CHANNEL_CHECK_ID,
    body: check,
    unique: {},
    unknown: [],
    erased: [],
    personal: []
  }
}

/**
 * True when the last check, or the start where there was none, is older than twice the period. A period of 0 is none.
 * Spec: decision 0048.
 */
export const isChannelOverdue = (sinceMs: number, periodMs: number, nowMs: number): boolean =>
  periodMs > 0 && nowMs - sinceMs > 2 * periodMs
