/** Plans the records that rotate the signing key. Spec: chain-format section 4, "Rotation"; decision 0011. */
import { type Crypto, utf8 } from "@flyball/evidence"
import { Result } from "effect"
import type { ChangeSet } from "../storage/port.ts"
import { keyIdText, type KeySince } from "./keys/chain-keys.ts"
import { RotationRefused } from "./keys/rotation-refusals.ts"

/** Scope of the rotations: a key is rotated away once, and to one key. */
export const ROTATION_SCOPE = "key.rotated"

/** The keys that a signer holds, as vkeys. */
export interface HeldVkeys {
  readonly current: string
  readonly next: string | null
}

/**
 * Plans the record that names the next key.
 *
 * Its once key is the key that is rotated away: of two rotations at the same time one is appended. With the same next
 * key the other is a duplicate; with
 * another one it is a conflict, and the next plan is refused.
 *
 * - Fails: `RotationRefused` when the current key is not the chain's, or there is no next key, or it has been used
 *   before.
 */
export const planRotate = (
  crypto: Crypto,
  keys: ReadonlyArray<KeySince>,
  held: HeldVkeys
): Result.Result<ChangeSet, RotationRefused> => {
  const current = keys.at(-1)!.vkey
  if (held.current !== current) {
    return refused(
      `the chain names ${current}, and the key here is ${held.current}. Another process has rotated it ` +
        "meanwhile: start again, and check the keys of the chain first."
    )
  }
  if (held.next === null)
    return refused(
      "there is no next key. Another process may have rotated at the same moment: check the " +
        "keys of the chain, and rotate again if it has not."
    )
  if (keys.some(({ vkey }) => vkey === held.next))
    return refused(`the key ${keyIdText(held.next)} has signed for this chain before, and a key is never used again.`)
  return Result.succeed({
    records: [
      {
        kind: "key.rotated",
        body: { from_key_id: keyIdText(current), to_vkey: held.next },
        parts: [],
        agentId: null,
        once: { scope: ROTATION_SCOPE, key: current, digest: crypto.sha256Hex(utf8(held.next)) }
      }
    ]
  })
}

const refused = (reason: string): Result.Result<never, RotationRefused> => Result.fail(new RotationRefused({ reason }))
