/** New identifiers, and record hashes as the interface writes them. Spec: design section 5, "typed prefixes". */
import { encodeId, toHex } from "@flyball/evidence"
import { Clock, Effect, type Fiber } from "effect"
import { Entropy } from "./entropy.ts"

/** Bytes of milliseconds since 1970 at the front of an id; they make ids sort by time. */
const timeBytes = 6
const idBytes = 16

/**
 * Makes an id such as `agt_06f1…`: 48 bits of the clock's milliseconds, then 80 random bits.
 *
 * - Unit: `prefix` is without the underscore.
 * - Fails: never.
 * - Spec: format 1 section 7.
 */
export const newId = (prefix: string): Effect.Effect<string> =>
  Effect.withFiberSucceed((fiber) => newIdIn(fiber, prefix))

/** Makes an id within a running fiber, without an Effect per id. */
export const newIdIn = (fiber: Fiber.Fiber<unknown, unknown>, prefix: string): string => {
  const bytes = new Uint8Array(idBytes)
  bytes.set(fiber.getRef(Entropy).bytes(idBytes - timeBytes), timeBytes)
  for (
    let at = timeBytes - 1, rest = Math.floor(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe());
    at >= 0;
    at--, rest = Math.floor(rest / 256)
  )
    bytes[at] = rest % 256
  return encodeId(`${prefix}_`, bytes)
}

/** `sha256:` and 64 lower-case hex digits. */
export const recordHash = (hash: Uint8Array): string => `sha256:${toHex(hash)}`
