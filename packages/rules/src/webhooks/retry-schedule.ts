/**
 * When a delivery is tried again. Pure: the same delivery, attempt and times give the same instant everywhere.
 *
 * Spec: document 2 section 6 ("attempt 1 immediate, 2 after 1 minute, …, 7 after 24 hours"); decision 0019 says from
 * when each delay counts.
 */
import { utf8 } from "@flyball/evidence"
import type { Sha256 } from "./hmac.ts"

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Delays before attempts 1 to 7. Unit: milliseconds. Spec: document 2 section 6, rule 4. */
export const delaysMs: ReadonlyArray<number> = [
  0,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  8 * HOUR_MS,
  24 * HOUR_MS
]

/**
 * Most attempts of a delivery. A crashed attempt counts, because it may have reached the receiver. Spec: document 2
 * section 6, rule 4; decision 0019.
 */
export const MAX_ATTEMPTS = delaysMs.length

/** The largest random extension of a delay, as a share of it. Unit: ratio, 0 to 1. Spec: decision 0019. */
export const MAX_JITTER = 0.1

/** Settings of the delays. Spec: decision 0019. */
export interface ScheduleSettings {
  /**
   * `previous_attempt`: from its end, which is what the specification means. `first_attempt`: from its beginning; an
   * attempt that is late already is due at once.
   */
  readonly base: "previous_attempt" | "first_attempt"
  /** Only ever adds: from nothing up to this share of the delay. 0 to 0.1. */
  readonly jitter: number
  /**
   * True when `Retry-After` of a 429 or 503 delays the next attempt, to twice its delay at most. Left out: it does not,
   * and every attempt keeps to the specification's instants.
   */
  readonly followRetryAfter?: boolean | undefined
}

/** The schedule of the specification, without jitter and `Retry-After`. Spec: document 2 section 6, rule 4. */
export const exactSchedule: ScheduleSettings = { base: "previous_attempt", jitter: 0 }

/** An attempt that failed. Times in milliseconds since 1970 UTC. */
export interface FailedAttempt {
  readonly deliveryId: string
  /** 1 for the first. */
  readonly attempt: number
  readonly firstStartedAtMs: number
  readonly endedAtMs: number
  readonly statusCode: number | null
  /** The `Retry-After` of the receiver. It counts with `followRetryAfter`, and with 429 and 503 only. */
  readonly retryAfterMs: number | null
}

/**
 * When the next attempt is due; null when there is none, because this was the last.
 *
 * ```ts
 * const failed: FailedAttempt = {
 *   deliveryId: "dlv_1",
 *   attempt: 1,
 *   firstStartedAtMs: 0,
 *   endedAtMs: 500,
 *   statusCode: 503,
 *   retryAfterMs: null
 * }
 * const due = (attempt: number) => nextAttemptAtMs({ ...failed, attempt }, exactSchedule, portableCrypto.sha256)
 * console.log(due(1), due(2), due(7)) // prints: 60500 300500 null
 * ```
 *
 * - Unit: milliseconds since 1970 UTC. Never earlier than the schedule. Later by the jitter, and by at most one delay
 *   where the settings follow `Retry-After`.
 * - Fails: never. A jitter out of bounds is brought within them.
 * - Spec: document 2 section 6; decision 0019.
 */
export const nextAttemptAtMs = (failed: FailedAttempt, settings: ScheduleSettings, sha256: Sha256): number | null => {
  const delayMs = delaysMs[failed.attempt]
  if (delayMs === undefined) return null
  const dueMs =
    settings.base === "first_attempt"
      ? Math.max(failed.endedAtMs, failed.firstStartedAtMs + delayMs)
      : failed.endedAtMs + delayMs
  const jitter = Math.min(Math.max(settings.jitter, 0), MAX_JITTER)
  const putOffMs =
    jitter === 0 ? 0 : Math.floor(delayMs * jitter * fraction(failed.deliveryId, failed.attempt + 1, sha256))
  const requestedMs = settings.followRetryAfter === true ? requestedAtMs(failed, dueMs + delayMs) : 0
  return Math.max(dueMs + putOffMs, requestedMs)
}

/** When the receiver wants the next attempt, `latestMs` at most; 0 where it asks for nothing that counts. */
const requestedAtMs = ({ endedAtMs, retryAfterMs, statusCode }: FailedAttempt, latestMs: number): number =>
  retryAfterMs !== null && (statusCode === 429 || statusCode === 503) ? Math.min(endedAtMs + retryAfterMs, latestMs) : 0

/** 48 bits of SHA-256 over delivery and attempt, as a number from 0 to below 1: every process computes the same. */
const fraction = (deliveryId: string, attempt: number, sha256: Sha256): number => {
  const hash = sha256(utf8(`${deliveryId}.${attempt}`))
  let value = 0
  for (let i = 0; i < 6; i++) value = value * 256 + hash[i]!
  return value / 2 ** 48
}
