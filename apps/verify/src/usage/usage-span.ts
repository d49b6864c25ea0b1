/** The window of `--usage`. */
import { parseInstant } from "@flyball/evidence"

/** A span of time. `toMs` is exclusive. Unit: milliseconds since 1970 UTC. */
export interface UsageSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** Reads `FROM/TO`, two RFC 3339 times in UTC; null where the text is none, or FROM is not before TO. */
export const parseSpan = (text: string): UsageSpan | null => {
  const times = text.split("/").map(readTime)
  const [fromMs, toMs] = times
  return times.length === 2 && typeof fromMs === "number" && typeof toMs === "number" && fromMs < toMs
    ? { fromMs, toMs }
    : null
}

/** A time with seconds, or with milliseconds as records have it. */
const readTime = (text: string): number | null => parseInstant(text) ?? parseInstant(text.replace(/Z$/, ".000Z"))
