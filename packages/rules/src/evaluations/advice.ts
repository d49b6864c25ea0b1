/** The part `advice`: the obligations of a verdict. It follows from the envelope as the verdict does. */
import { canonicalBytes } from "@flyball/evidence"
import type { Decision } from "@flyball/envelope"
import { obligationJson } from "@flyball/envelope"

/**
 * The bytes of the part `advice`; null if the verdict has none, and its record no such part. Spec: format 1 section 8,
 * `evaluation.made`.
 */
export const adviceOf = ({ noticeMs, obligations, retryAfterMs, suggestion }: Decision): Uint8Array | null =>
  obligations.length === 0 && noticeMs === null && retryAfterMs === null && suggestion === null
    ? null
    : canonicalBytes({
        ...(noticeMs === null ? {} : { notice_ms: noticeMs }),
        obligations: obligations.map(obligationJson),
        ...(retryAfterMs === null ? {} : { retry_after_ms: retryAfterMs }),
        ...(suggestion === null ? {} : { suggestion })
      })

/** Different advice that is kept. An envelope has little of it; obligations of several rules join to more. */
const MAX_KEPT = 32

/** Advice made once, as long as no obligations are merged: writing JSON takes longer than deciding. */
export class AdviceBytes {
  readonly #kept: Array<{
    readonly noticeMs: number | null
    readonly retryAfterMs: number | null
    readonly suggestion: string | null
    readonly bytes: Uint8Array | null
  }> = []

  of(decision: Decision): Uint8Array | null {
    const { noticeMs, obligations, retryAfterMs, suggestion } = decision
    if (obligations.length > 0) return adviceOf(decision)
    if (noticeMs === null && retryAfterMs === null && suggestion === null) return null
    for (const one of this.#kept)
      if (one.noticeMs === noticeMs && one.retryAfterMs === retryAfterMs && one.suggestion === suggestion)
        return one.bytes
    if (this.#kept.length >= MAX_KEPT) this.#kept.length = 0
    const bytes = adviceOf(decision)
    this.#kept.push({ noticeMs, retryAfterMs, suggestion, bytes })
    return bytes
  }
}
