/**
 * Identifiers of events and deliveries. Pure, and without Effect, so that a storage can make them in a thread of its
 * own.
 */
import { encodeId, ID_LETTERS } from "@flyball/evidence/id"
import { ID_CHARACTERS, TIME_CHARACTERS } from "../../foundation/id-time.ts"

/** Random bytes that an event's id needs. */
export const eventEntropyBytes = 10

const EVENT = "evt_"
const DELIVERY = "dlv_"
const idBytes = 16
const timeBytes = idBytes - eventEntropyBytes
const zeros = new Uint8Array(eventEntropyBytes)

/** Entropy as it is encoded in an event's id. */
export const eventRandom = (entropy: Uint8Array): string => {
  const bytes = new Uint8Array(idBytes)
  bytes.set(entropy, timeBytes)
  return encodeId("", bytes).slice(TIME_CHARACTERS)
}

/**
 * The id of the next event: the time, then random bits; or the id after `last`, where that id would not follow it.
 *
 * Ids are in the order of commits whatever the clock does, so a reader that continues after one misses no event.
 */
export const eventIdAfter = (last: string | null, atMs: number, random: string): string => {
  const id = EVENT + timeText(atMs) + random
  return last === null || id > last ? id : following(last)
}

/** Lower bound of the ids of events of this time or later. Unit: milliseconds since 1970. */
export const firstEventId = (sinceMs: number): string => encodeId(EVENT, timed(Math.max(0, Math.floor(sinceMs)), zeros))

/** Lower bound of the ids of deliveries made at this time or later. Unit: milliseconds since 1970. */
export const firstDeliveryId = (sinceMs: number): string =>
  encodeId(DELIVERY, timed(Math.max(0, Math.floor(sinceMs)), zeros))

/** The id of a delivery: the time of its commit, then a hash of event and endpoint. The same on every store. */
export const deliveryId = (
  sha256: (bytes: Uint8Array) => Uint8Array,
  atMs: number,
  eventId: string,
  endpointId: string,
  sequence: number
): string =>
  encodeId(
    DELIVERY,
    timed(atMs, sha256(new TextEncoder().encode(`${eventId} ${sequence} ${endpointId}`)).subarray(0, eventEntropyBytes))
  )

const timed = (atMs: number, rest: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(idBytes)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, Math.floor(atMs / 0x1_0000))
  view.setUint16(4, atMs % 0x1_0000)
  bytes.set(rest, timeBytes)
  return bytes
}

/** The last time that was written, as text: all events of a batch have one time. */
let written = { atMs: 0, text: "0".repeat(TIME_CHARACTERS) }

const timeText = (atMs: number): string => {
  if (written.atMs !== atMs) written = { atMs, text: encodeId("", timed(atMs, zeros)).slice(0, TIME_CHARACTERS) }
  return written.text
}

const idLength = EVENT.length + ID_CHARACTERS

/** The id one higher: a number in base 32, counted up where it is written. */
const following = (id: string): string => {
  if (id.length !== idLength || !id.startsWith(EVENT)) throw notOurs()
  for (let at = idLength - 1; at >= EVENT.length; at--) {
    const value = ID_LETTERS.indexOf(id[at]!)
    // The first letter carries three bits.
    if (value < 0 || (at === EVENT.length && value >= 7)) throw notOurs()
    if (value < 31) return id.slice(0, at) + ID_LETTERS[value + 1]! + "0".repeat(idLength - 1 - at)
  }
  throw notOurs()
}

const notOurs = (): RangeError => new RangeError("The last event's id is not one that a store makes.")
