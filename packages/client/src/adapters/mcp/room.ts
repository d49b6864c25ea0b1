/** Bounds what waits in a proxy: requests that have no answer yet, and their bytes. */

/** Requests without an answer that one proxy keeps. */
export const MAX_WAITING = 1_000

/** Bytes of these requests. Unit: bytes of JSON. */
export const MAX_WAITING_BYTES = 256 * 1_048_576

/** The place of one request. */
export interface Place {
  /** Takes more bytes; false where there is no room for them. */
  readonly grow: (bytes: number) => boolean
  readonly leave: () => void
}

/** Room for requests. */
export interface Room {
  /** A place; null where there is none. */
  readonly enter: (bytes: number) => Place | null
}

/** The sentence of a request for which there is no room. */
export const NO_ROOM = "Too many requests wait for an answer. This one was not passed on."

/** An empty room. */
export const makeRoom = (maxWaiting = MAX_WAITING, maxBytes = MAX_WAITING_BYTES): Room => {
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
