/** Identifiers of events and deliveries. Pure, and without Effect, so that a storage can make them in a thread of its own. */
import { decodeId, encodeId } from "@flyball/evidence/id"

/** Random bytes that an event's id needs. */
export const eventEntropyBytes = 10

const EVENT = "evt_"
const DELIVERY = "dlv_"
const idBytes = 16
const timeBytes = idBytes - eventEntropyBytes

/**
 * The id of the next event: the time, then the entropy; or the id after `last`, where that would not come behind it.
 *
 * So ids are in the order of commits whatever the clock does, and nobody who reads on behind one misses an event.
 */
export const eventIdAfter = (last: string | null, atMs: number, entropy: Uint8Array): string => {
  const id = encodeId(EVENT, timed(atMs, entropy))
  return last === null || id > last ? id : following(last)
}

/** No event of this time or a later one has a smaller id. Unit: milliseconds since 1970. */
export const firstEventId = (sinceMs: number): string => encodeId(EVENT, timed(Math.max(0, Math.floor(sinceMs)), new Uint8Array(eventEntropyBytes)))

/** No delivery made at this time or later has a smaller id. Unit: milliseconds since 1970. */
export const firstDeliveryId = (sinceMs: number): string => encodeId(DELIVERY, timed(Math.max(0, Math.floor(sinceMs)), new Uint8Array(eventEntropyBytes)))

/** The id of a delivery: the time of its commit, then what it owes to whom, hashed. The same on every store. */
export const deliveryId = (sha256: (bytes: Uint8Array) => Uint8Array, atMs: number, eventId: string, endpointId: string, sequence: number): string =>
  encodeId(DELIVERY, timed(atMs, sha256(new TextEncoder().encode(`${eventId} ${sequence} ${endpointId}`)).subarray(0, eventEntropyBytes)))

const timed = (atMs: number, rest: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(idBytes)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, Math.floor(atMs / 0x1_0000))
  view.setUint16(4, atMs % 0x1_0000)
  bytes.set(rest, timeBytes)
  return bytes
}

/** The id one higher. */
const following = (id: string): string => {
  const bytes = decodeId(EVENT, id)
  if (bytes === null) throw new RangeError("The last event's id is not one that a store makes.")
  for (let at = idBytes - 1; at >= 0; at--) {
    bytes[at] = (bytes[at]! + 1) & 255
    if (bytes[at] !== 0) break
  }
  return encodeId(EVENT, bytes)
}
