/**
 * Requests without a valid key, by the address that they come from: what a 401 says of limits. Kept in memory, bounded,
 * for this process alone.
 */
import { ANONYMOUS_PER_MINUTE } from "@flyball/contract"

/** Addresses that are kept; the one that came first goes. */
const MOST_ADDRESSES = 10_000
const MINUTE_MS = 60_000

interface Minute {
  readonly endsMs: number
  taken: number
}

/** Limits by address: a minute begins with its first request. */
export class AddressLimits {
  readonly #minutes = new Map<string, Minute>()

  /** Counts a request. `retryAfterS`: null where it is within the limit. */
  take(
    address: string,
    nowMs: number
  ): { readonly headers: { readonly [name: string]: string }; readonly retryAfterS: number | null } {
    let minute = this.#minutes.get(address)
    if (minute === undefined || minute.endsMs <= nowMs || minute.endsMs > nowMs + MINUTE_MS) {
      this.#minutes.delete(address)
      const [oldest] = this.#minutes.keys()
      if (this.#minutes.size >= MOST_ADDRESSES) this.#minutes.delete(oldest!)
      minute = { endsMs: nowMs + MINUTE_MS, taken: 0 }
      this.#minutes.set(address, minute)
    }
    minute.taken++
    const left = Math.max(0, ANONYMOUS_PER_MINUTE - minute.taken)
    const leftS = Math.max(1, Math.ceil((minute.endsMs - nowMs) / 1_000))
    return {
      headers: {
        "x-ratelimit-limit": String(ANONYMOUS_PER_MINUTE),
        "x-ratelimit-remaining": String(left),
        "x-ratelimit-reset": String(Math.ceil(minute.endsMs / 1_000)),
        "ratelimit-policy": `"address-minute";q=${ANONYMOUS_PER_MINUTE};w=60`,
        ratelimit: `"address-minute";r=${left};t=${leftS}`
      },
      retryAfterS: minute.taken > ANONYMOUS_PER_MINUTE ? leftS : null
    }
  }

  /** Takes a request back that came with a valid key. */
  back(address: string): void {
    const minute = this.#minutes.get(address)
    if (minute !== undefined && minute.taken > 0) minute.taken--
  }
}
