/** Reads the acknowledgements of an activation from the records up to a head. */
import { parseInstant, readRecord } from "@flyball/evidence"
import type { DrillAck } from "@flyball/rules"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { EPOCH_SCOPE } from "../kill/epoch-key.ts"

const PAGE = 1_000

/**
 * The first acknowledgement of each instance in the records up to `toSeq`. Read from records and not from documents:
 * one that arrives while the drill is completed is either in, for the verifier too, or not.
 *
 * - `epoch`: the one that began with the activation; no earlier record is read.
 */
export const acknowledgementsUpTo = Effect.fnUntraced(function* (
  storage: StorageApi,
  activationId: string,
  epoch: number,
  toSeq: number
): Effect.fn.Return<ReadonlyArray<DrillAck>, ReadFault> {
  const [began] = yield* storage.once(EPOCH_SCOPE, [String(epoch)])
  const found = new Map<string, DrillAck>()
  for (let from = began?.seq ?? 0; from <= toSeq;) {
    const page = yield* storage.records({ kinds: ["kill.acknowledged"], from, to: toSeq, limit: PAGE })
    for (const { bytes, seq } of page) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      const { body } = read.record
      if (body["activation_id"] !== activationId) continue
      const agentId = String(body["agent_id"])
      const instanceId = String(body["instance_id"])
      const name = `${agentId} ${instanceId}`
      if (!found.has(name))
        found.set(name, {
          agentId,
          instanceId,
          acknowledgedAtMs: parseInstant(String(body["acknowledged_at"])) ?? 0
        })
    }
    if (page.length < PAGE) break
    from = page.at(-1)!.seq + 1
  }
  return [...found.values()]
})
