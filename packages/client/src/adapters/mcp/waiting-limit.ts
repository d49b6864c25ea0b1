/** Bounds what waits in a proxy: requests that have no answer yet, and their bytes. */

/** Requests without an answer that one proxy keeps. */
export const MAX_WAITING = 1_000

/** Bytes of these requests. Unit: bytes of JSON. */
export const MAX_WAITING_BYTES = 256 * 1_048_576

/** The place of one request. */
export interface Place {
  /** Counts more bytes; false, and nothing is counted, where that exceeds the limit. */
  readonly grow: (bytes: number) => boolean
  readonly leave: () => void
}

/** Counts the requests that wait, and their bytes. */
export interface WaitingLimit {
  /** A place; null where there is none. */
  readonly enter: (bytes: number) => Place | null
}

/** The error sentence of a request over the limit. */
export const TOO_MANY_WAITING = "Too many requests wait for an answer. This one was not passed on."

/** A limit that no request counts against yet. `maxBytes`: bytes of JSON. */
export const limitWaiting = (maxWaiting = MAX_WAITING, maxBytes = MAX_WAITING_BYTES): WaitingLimit => {
  let waiting = 0
  let bytes = 0
  return {
    enter: (first) => {
      if (waiting >= maxWaiting || bytes + first > maxBytes) return null
      waiting++
      bytes += first
      let own = first
      let isIn = true
      return {
        grow: (more) => {
          if (bytes + more > maxBytes) return false
          bytes += more
          own += more
          return true
        },
        leave: () => {
          if (!isIn) return
          isIn = false
          waiting--
          bytes -= own
        }
      }
    }
  }
}
