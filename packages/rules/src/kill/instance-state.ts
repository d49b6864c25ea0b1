/** The state of one instance under an activation. */
import type { AckDocument, ActivationDocument } from "./document.ts"

/**
 * How far an instance is. An activation itself has two states: active until `releasedAtMs` is set, then released.
 *
 * | state | the record that causes it | what is known |
 * |---|---|---|
 * | `requested` | `kill.expected` lists the instance | it was seen before, and has not answered |
 * | `acknowledged` | `kill.acknowledged` | it obeys; actions that it had begun may still run |
 * | `stopped` | `kill.stopped` | nothing that it began runs any longer |
 * | `unconfirmed` | `kill.unconfirmed` | still silent when its time to answer ended; whether it stopped is unknown |
 *
 * An instance that answers later leaves `unconfirmed`. A release changes no instance's state.
 *
 * - Spec: envelopes.md 3.10, confirmed stop; decision 0047.
 */
export type KillInstanceState = "requested" | "acknowledged" | "stopped" | "unconfirmed"

/** The state of an instance. `ack`: its acknowledgement; null while it is silent. */
export const killInstanceState = (
  { unconfirmedAtMs }: Pick<ActivationDocument, "unconfirmedAtMs">,
  ack: Pick<AckDocument, "stoppedAtMs"> | null
): KillInstanceState => {
  if (ack !== null) return ack.stoppedAtMs === null ? "acknowledged" : "stopped"
  return unconfirmedAtMs === null ? "requested" : "unconfirmed"
}
