/** The envelopes in force for an agent, compiled. Read once and kept until anything about envelopes changes. */
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import {
  agentTarget,
  bind,
  type Binding,
  ENVELOPE_VERSIONS,
  type EnvelopeDocument,
  ENVELOPES,
  type Layer,
  unbound,
  unitTarget,
  type VersionDocument,
  versionId,
  type WaiverDocument,
  WAIVERS
} from "@flyball/rules"
import type { Envelope } from "@flyball/envelope"
import { readEnvelope, readWaiver, type Waiver } from "@flyball/envelope"

/**
 * The one document that every change of what is in force writes: each evaluation expects it unchanged, also where there
 * is no envelope to expect.
 */
export const EPOCH = { collection: "bounds", id: "epoch" } as const

/** A version that a reader found, with what must be as it is when it is used. */
type Expectation = { readonly collection: string; readonly id: string; readonly version: number }

/**
 * The layers that bind an agent at a time. `live` without a combination denies; `shadow` is null where nothing is on
 * trial.
 */
export interface InForce {
  readonly live: Binding
  readonly shadow: Binding | null
  /** Document versions that a commit must find unchanged. */
  readonly expects: ReadonlyArray<Expectation>
}

interface Version extends Omit<Layer, "waivers"> {
  readonly waivers: ReadonlyArray<{ readonly id: string; readonly waiver: Waiver | null; readonly expiresAtMs: number }>
  readonly expects: ReadonlyArray<Expectation>
}

/** Envelope versions of one target: an agent or an org unit. */
interface Target {
  readonly live: Version | null
  readonly shadow: Version | null
  readonly withdrawn: boolean
}

const nothing: Target = { live: null, shadow: null, withdrawn: false }

/** Targets and bindings kept. Above it all are dropped. */
const MAX_KEPT = 10_000

/** Answers what is in force. One for each service: it keeps what it read. */
export interface InForceReader {
  /** `orgUnit` null: it was erased, and what its layer says is not known, so nothing is permitted. */
  readonly of: (agentId: string, orgUnit: string | null, atMs: number) => Effect.Effect<InForce, ReadFault>
  /** Reads the layer of one target that is in force; null when there is none, or it was withdrawn. */
  readonly liveOf: (target: string, atMs: number) => Effect.Effect<Layer | null, ReadFault>
  /** Lets go of all that was read: a conflict proved some of it old. */
  readonly invalidate: () => void
  /**
   * A published version as a layer, whether in force or not; with the waivers of these ids. Null where there is none.
   */
  readonly layer: (
    envelopeId: string,
    version: number,
    waivers: ReadonlyArray<string>
  ) => Effect.Effect<Layer | null, ReadFault>
}

/** A reader over a store. */
export const inForceReader = (storage: StorageApi): InForceReader => {
  let epoch = -1
  let targets = new Map<string, Target>()
  let bindings = new Map<string, Binding>()

  const read = Effect.fnUntraced(function* (envelopeId: string, number: number) {
    const id = versionId(envelopeId, number)
    const document = yield* storage.get(ENVELOPE_VERSIONS, id)
    if (document === null) return null
    const { digest, envelope, version } = document.body as VersionDocument
    const parsed = envelope === null ? null : readEnvelope(envelope).envelope
    const all = yield* storage.find(WAIVERS, "envelope_id", envelopeId)
    const granted = all.filter(({ body }) => body["status"] === "granted" && body["version"] === version)
    return {
      envelopeId,
      version,
      digest,
      envelope: parsed,
      waivers: granted.map((one) => ({
        id: one.id,
        waiver: waiverOf(parsed, one.body as WaiverDocument),
        expiresAtMs: Number(one.body["expiresAtMs"])
      })),
      expects: [
        { collection: ENVELOPE_VERSIONS, id, version: document.version },
        ...granted.map((one) => ({ collection: WAIVERS, id: one.id, version: one.version }))
      ]
    } satisfies Version
  })

  /** `kept`: the map of the epoch that the caller expects. Who reads slowly must not fill that of a later one. */
  const targetOf = Effect.fnUntraced(function* (
    kept: Map<string, Target>,
    key: string
  ): Effect.fn.Return<Target, ReadFault> {
    const known = kept.get(key)
    if (known !== undefined) return known
    const [document] = yield* storage.find(ENVELOPES, "target", key)
    const envelope = document?.body as EnvelopeDocument | undefined
    const target =
      envelope === undefined
        ? nothing
        : {
            live: envelope.live === null || envelope.withdrawn ? null : yield* read(document!.id, envelope.live),
            shadow: envelope.shadow === null || envelope.withdrawn ? null : yield* read(document!.id, envelope.shadow),
            withdrawn: envelope.withdrawn
          }
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(key, target)
    return target
  })

  const bound = (layers: ReadonlyArray<Layer>): Binding => {
    if (layers.length === 0) return unbound
    const key = layers
      .map(({ envelopeId, version, waivers }) => `${envelopeId}.${version}+${waivers.map(({ id }) => id).join("+")}`)
      .join(" ")
    const known = bindings.get(key)
    if (known !== undefined) return known
    if (bindings.size >= MAX_KEPT) bindings = new Map()
    const made = bind(layers)
    bindings.set(key, made)
    return made
  }

  /** Lets go of everything that was read before the last change. */
  const freshly = Effect.map(storage.get(EPOCH.collection, EPOCH.id), (document) => {
    const version = document?.version ?? 0
    if (version !== epoch) {
      epoch = version
      targets = new Map()
      bindings = new Map()
    }
    return { expected: { ...EPOCH, version }, kept: targets }
  })

  return {
    invalidate: () => {
      epoch = -1
    },
    liveOf: Effect.fnUntraced(function* (target, atMs) {
      const { kept } = yield* freshly
      const { live } = yield* targetOf(kept, target)
      return live === null ? null : layerAt(live, atMs)
    }),
    of: Effect.fnUntraced(function* (agentId, orgUnit, atMs) {
      const { expected, kept } = yield* freshly
      if (orgUnit === null) return { live: unbound, shadow: null, expects: [expected] }
      const both = [yield* targetOf(kept, unitTarget(orgUnit)), yield* targetOf(kept, agentTarget(agentId))]
      if (both.some(({ withdrawn }) => withdrawn)) return { live: unbound, shadow: null, expects: [expected] }
      const live = both.flatMap(({ live }) => live ?? [])
      const shadow = both.some(({ shadow }) => shadow !== null)
        ? both.flatMap(({ live, shadow }) => shadow ?? live ?? [])
        : null
      const used = shadow === null ? live : [...new Set([...live, ...shadow])]
      return {
        live: bound(live.map((one) => layerAt(one, atMs))),
        shadow: shadow === null ? null : bound(shadow.map((one) => layerAt(one, atMs))),
        expects: [expected, ...used.flatMap(({ expects }) => expects)]
      }
    }),
    layer: (envelopeId, version, waivers) =>
      Effect.map(read(envelopeId, version), (found) =>
        found === null ? null : { ...found, waivers: found.waivers.filter(({ id }) => waivers.includes(id)) }
      )
  }
}

const layerAt = ({ digest, envelope, envelopeId, version, waivers }: Version, atMs: number): Layer => ({
  digest,
  envelope,
  envelopeId,
  version,
  waivers: waivers.filter(({ expiresAtMs }) => expiresAtMs > atMs).map(({ id, waiver }) => ({ id, waiver }))
})

const waiverOf = (envelope: Envelope | null, { ruleId, unless }: WaiverDocument): Waiver | null =>
  envelope === null || unless === null ? null : readWaiver(envelope, ruleId, unless).waiver
