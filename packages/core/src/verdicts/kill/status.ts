/** A kill status, from the activations that reach its target. Pure. */
import { KILL_TTL_MS, type KillStatus } from "@flyball/contract"
import { canonicalBytes, formatInstant, portableCrypto, toHex } from "@flyball/evidence"
import { killStateOf, type KillTarget } from "@flyball/rules"
import type { KillView, StoredActivation } from "./kill-reader.ts"

/** The status without a signature and without a reason. `reaching`: the activations that reach the target. */
export const statusOf = (
  target: KillTarget,
  reaching: ReadonlyArray<StoredActivation>,
  view: Pick<KillView, "epoch" | "seq">,
  origin: string
): KillStatus => {
  const { activation, drill, effectiveResponse, halted, response } = killStateOf(
    reaching.map(({ body, id }) => ({
      id,
      epoch: body.epoch,
      response: body.response,
      drill: body.drill?.mode ?? null,
      sinceMs: body.activatedAtMs
    }))
  )
  return {
    target_type: target.type,
    target_id: target.id,
    halted,
    drill,
    since: activation === null ? null : formatInstant(activation.sinceMs),
    activation_event: activation?.id ?? null,
    reason: null,
    response,
    effective_response: effectiveResponse,
    epoch: view.epoch,
    as_of_seq: view.seq,
    ttl_ms: KILL_TTL_MS,
    origin,
    nonce: null,
    issued_at: null,
    key_id: null,
    signature: null
  }
}

/**
 * Makes the tag of a status: a digest of what it says of its target. The epoch, which every change of the deployment
 * moves, is not in it. Of the reason only whether there is one: another one is that of another activation.
 */
export const tagOf = ({
  as_of_seq: _,
  epoch: __,
  issued_at: ___,
  key_id: ____,
  nonce: _____,
  signature: ______,
  reason,
  ...state
}: KillStatus): string =>
  `k-${toHex(portableCrypto.sha256(canonicalBytes({ ...state, has_reason: reason !== null }))).slice(0, 32)}`
