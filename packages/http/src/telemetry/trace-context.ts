/** The `traceparent` header: which trace a request belongs to. Spec: W3C Trace Context, level 1, section 3.2. */

/** A place in a trace. */
export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string
  /** 16 lower-case hex digits, not all zero. */
  readonly spanId: string
  /** True when spans of this trace are kept. */
  readonly sampled: boolean
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const SAMPLED = 1

/** Parses a `traceparent` header; null where it is invalid or absent. A trace then begins here. */
export const readTraceparent = (header: string | ReadonlyArray<string> | undefined): TraceContext | null => {
  const [, version, traceId, spanId, flags, more] = typeof header === "string" ? (FORM.exec(header) ?? []) : []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  // A later version may say more behind what we know; this one may not, and ff is none.
  if (version === "ff" || (version === "00" && more !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}
