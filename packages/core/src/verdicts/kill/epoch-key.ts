/**
 * Idempotency keys of records of the kill switch: no two records begin one epoch or state whom one activation expects,
 * and the record of each is found by it.
 */
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

/** Scope of the keys of `kill.expected`, each the id of an activation. */
export const EXPECTED_SCOPE = "kill_expected"

/** The key of the record that states whom an activation expects. */
export const expectedKey = (activationId: string): IdempotencyKey => ({
  scope: EXPECTED_SCOPE,
  key: activationId,
  digest: toHex(portableCrypto.sha256(utf8(`kill.expected ${activationId}`)))
})
