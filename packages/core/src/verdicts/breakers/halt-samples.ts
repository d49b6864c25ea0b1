/**
 * Activations and releases of the kill switch as samples of an agent's windows, for any target: an activation concerns
 * the agents whose instances it expects.
 */
import { readRecord } from "@flyball/evidence"
import { haltKinds, instancesByAgent, KILL_ACTIVATIONS, type MetricRecord } from "@flyball/rules"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { JsonObject, ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"
import { EPOCH_SCOPE, EXPECTED_SCOPE } from "../kill/epoch-key.ts"
import { type StoredActivation, storedActivation } from "../kill/kill-reader.ts"

const PAGE = 1_000

/** A record as windows take it, or why it cannot be read. */
export const readSample = ({ atMs, bytes, kind, seq }: StoredRecord): MetricRecord | StorageCorrupt => {
  const read = readRecord(bytes)
  return read.ok
    ? { seq, atMs, kind, body: read.record.body as JsonObject }
    : new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
}

/** {@link readSample} as an effect. */
export const sampleOf = (record: StoredRecord): Effect.Effect<MetricRecord, StorageCorrupt> => {
  const sample = readSample(record)
  return sample instanceof StorageCorrupt ? Effect.fail(sample) : Effect.succeed(sample)
}

/**
 * The activation that a record is about; null where it expects no instance, where another record states whom, and where
 * that was read after the release.
 */
const activationOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  { body, kind, seq }: MetricRecord
): Effect.fn.Return<StoredActivation | null, ReadFault> {
  if (body["expected"] === 0) return null
  const document = yield* storage.get(KILL_ACTIVATIONS, String(body["activation_id"]))
  if (document === null) return null
  const activation = storedActivation(document)
  const { releaseEpoch } = activation.body
  const [released] =
    kind === "kill.expected" && releaseEpoch !== null ? yield* storage.once(EPOCH_SCOPE, [String(releaseEpoch)]) : []
  return released !== undefined && released.seq < seq ? null : activation
})

/** A sample with the instances of an agent: that of `kill.expected` has what windows need of its activation. */
const withInstances = (
  sample: MetricRecord,
  { body }: StoredActivation,
  instances: ReadonlyArray<string>
): MetricRecord =>
  sample.kind === "kill.expected"
    ? {
        ...sample,
        instances,
        atMs: body.activatedAtMs,
        body: {
          ...sample.body,
          response: body.response,
          ...(body.drill === null ? {} : { drill: { drill_id: body.drill.drillId, mode: body.drill.mode } })
        }
      }
    : { ...sample, instances }

/** The samples that a record of the kill switch is for the agents whose instances its activation expects. */
export const samplesByAgent = Effect.fnUntraced(function* (storage: StorageApi, sample: MetricRecord) {
  const activation = yield* activationOf(storage, sample)
  return activation === null
    ? []
    : [...instancesByAgent(activation.body.expectedInstances ?? [])].map(
        ([agentId, instances]) => [agentId, withInstances(sample, activation, instances)] as const
      )
})

const instancesOf = ({ body }: StoredActivation, agentId: string): ReadonlyArray<string> =>
  (body.expectedInstances ?? []).flatMap((one) => (one.agentId === agentId ? [one.instanceId] : []))

/** Activations that expect instances of an agent, and their releases, among the records `from` to `to`. */
export const haltsWithin = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  from: number,
  to: number,
  seen: (released: StoredActivation) => void = () => {}
): Effect.fn.Return<ReadonlyArray<MetricRecord>, ReadFault> {
  const found: Array<MetricRecord> = []
  for (let at = from; at <= to;) {
    const page = yield* storage.records({ kinds: haltKinds, from: at, to, limit: PAGE })
    for (const record of page) {
      const sample = yield* sampleOf(record)
      const activation = yield* activationOf(storage, sample)
      const instances = activation === null ? [] : instancesOf(activation, agentId)
      if (activation === null || instances.length === 0) continue
      found.push(withInstances(sample, activation, instances))
      if (record.kind === "kill.released") seen(activation)
    }
    if (page.length < PAGE) break
    at = page.at(-1)!.seq + 1
  }
  return found
})

/**
 * Reads the samples of the kill switch for a window over records `from` to `to`: those that {@link haltsWithin} finds,
 * and of activations before `from` that held there, their record and what instances of the agent said of them. By seq.
 */
export const haltSamples = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  from: number,
  to: number
): Effect.fn.Return<ReadonlyArray<MetricRecord>, ReadFault> {
  const held = new Map(
    (yield* storage.find(KILL_ACTIVATIONS, "state", "live")).map((one) => [one.id, storedActivation(one)])
  )
  const found = [...(yield* haltsWithin(storage, agentId, from, to, (one) => void held.set(one.id, one)))]
  let first = from
  for (const activation of held.values()) {
    const instances = instancesOf(activation, agentId)
    const [expected] = instances.length === 0 ? [] : yield* storage.once(EXPECTED_SCOPE, [activation.id])
    const [began] = expected === undefined ? [] : yield* storage.once(EPOCH_SCOPE, [String(activation.body.epoch)])
    if (began === undefined || began.seq >= from) continue
    first = Math.min(first, began.seq)
    if (expected!.seq >= from) continue
    const record = yield* storage.record(expected!.seq)
    if (record === null)
      return yield* new StorageCorrupt({ reason: `record ${expected!.seq} is missing below the head` })
    const sample = yield* sampleOf(record)
    if ((yield* activationOf(storage, sample)) !== null) found.push(withInstances(sample, activation, instances))
  }
  const kinds = ["kill.acknowledged", "kill.stopped"]
  while (first < from) {
    const page = yield* storage.records({ agentId, kinds, from: first, to: from - 1, limit: PAGE })
    for (const record of page) found.push(yield* sampleOf(record))
    first = page.length < PAGE ? from : page.at(-1)!.seq + 1
  }
  return found.toSorted((a, b) => a.seq - b.seq)
})
