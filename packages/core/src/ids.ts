/** New identifiers. Spec: design section 5, "typed prefixes + a time-sortable 128-bit id". */
import { encodeId } from "@flyball/evidence"
import { Clock, Effect } from "effect"
import { Entropy } from "./entropy.ts"

/** Bytes of milliseconds since 1970 at the front of an id; they make ids sort by time. */
const timeBytes = 6
const idBytes = 16

/**
 * Makes an id such as `agt_06f1…`: 48 bits of the clock's milliseconds, then 80 random bits.
 *
 * - Unit: `prefix` is without the underscore.
 * - Fails: never.
 */
export const newId = Effect.fnUntraced(function*(prefix: string) {
  const nowMs = yield* Clock.currentTimeMillis
  const entropy = yield* Entropy
  const bytes = new Uint8Array(idBytes)
  new DataView(bytes.buffer).setUint32(0, Math.floor(nowMs / 0x1_0000))
  new DataView(bytes.buffer).setUint16(4, nowMs % 0x1_0000)
  bytes.set(entropy.bytes(idBytes - timeBytes), timeBytes)
  return encodeId(`${prefix}_`, bytes)
})
