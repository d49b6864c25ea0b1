/** The idempotency key of a record that begins an epoch: no two begin one, and the record of one is found by it. */
import { portableCrypto, toHex, utf8 } from "@flyball/evidence"
import type { IdempotencyKey } from "../../storage/port.ts"

/** Scope of the keys, each an epoch in decimal digits. */
export const EPOCH_SCOPE = "kill_epoch"

/** The key of the record of this kind about this activation. */
export const epochKey = (kind: string, activationId: string, epoch: number): IdempotencyKey => ({
  scope: EPOCH_SCOPE,
  key: String(epoch),
  digest: toHex(portableCrypto.sha256(utf8(`${kind} ${activationId}`)))
})
