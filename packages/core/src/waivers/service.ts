/** Waivers: an exception to one rule, for a time, by two people. Spec: api.md "bounded autonomy"; envelopes.md 3.7; decision 0025. */
import {
  detailItem, type EnvelopeNotFound, EnvelopeNotInForce, InvalidInput, isId, type SecondApproverRequired, type WaiverCreate, WaiverNotFound, type WaiverNotOpen, type WaiverOut
} from "@flyball/contract"
import { parseInstant } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import { commitPlanned } from "../commit-planned.ts"
import { bind } from "../evaluations/rules/layers.ts"
import { inForceReader } from "../envelopes/in-force.ts"
import { readWaiver } from "../envelopes/rules/waive.ts"
import { nextEpoch, readStoredEnvelope } from "../envelopes/stored-envelope.ts"
import { newId } from "../ids.ts"
import { secondPerson } from "../principals/second-person.ts"
import { everyUnit, type Scope } from "../scope.ts"
import { type ReadFault, Storage } from "../storage/port.ts"
import type { Writer } from "../writer.ts"
import { planGrant, planRequest, type StoredWaiver, waiverOut } from "./plan-waiver.ts"
import { type WaiverDocument, WAIVERS } from "./rules/document.ts"

/** Longest that a waiver holds. What shall hold longer belongs into the envelope. Unit: milliseconds. */
export const MAX_WAIVER_MS = 90 * 86_400_000

/** Waivers. */
export interface WaiversApi {
  /** Asks for one, of the version in force. */
  readonly request: (envelopeId: string, input: WaiverCreate, writer: Writer, scope?: Scope) => Effect.Effect<WaiverOut, EnvelopeNotFound | EnvelopeNotInForce | InvalidInput | ReadFault>
  /** Grants one that somebody else asked for. */
  readonly grant: (envelopeId: string, waiverId: string, writer: Writer, scope?: Scope) => Effect.Effect<WaiverOut, EnvelopeNotFound | SecondApproverRequired | WaiverNotFound | WaiverNotOpen | ReadFault>
  /** Oldest first. */
  readonly list: (envelopeId: string, scope?: Scope) => Effect.Effect<ReadonlyArray<WaiverOut>, EnvelopeNotFound | ReadFault>
}

/** Waivers. */
export class Waivers extends Context.Service<Waivers, WaiversApi>()("flyball/core/Waivers") {
  static readonly layer: Layer.Layer<Waivers, never, Storage> = Layer.effect(Waivers, Effect.gen(function*() {
    const storage = yield* Storage
    const inForce = inForceReader(storage)
    const invalid = (path: ReadonlyArray<string>, message: string) => new InvalidInput({ detail: [detailItem(["body", ...path], "value_error", message)] })

    return Waivers.of({
      request: (envelopeId, input, writer, scope = everyUnit) => commitPlanned(Effect.gen(function*() {
        const { body } = yield* readStoredEnvelope(storage, envelopeId, scope)
        const layer = body.live === null || body.withdrawn ? null : yield* inForce.layer(envelopeId, body.live, [])
        if (layer === null || layer.envelope === null) return yield* new EnvelopeNotInForce()
        const { findings, waiver } = readWaiver(layer.envelope, input.rule_id, input.unless)
        if (waiver === null) return yield* new InvalidInput({ detail: findings.map(({ message, path }) => detailItem(["body", ...path.split("/").slice(1)], "value_error", message)) })
        if (bind([{ ...layer, waivers: [{ id: "", waiver }] }]).ready === null) return yield* invalid(["unless"], "With this exception the rule is too large to be decided on. Write a narrower one")
        const { ms } = yield* storage.asOf
        const expiresAtMs = parseInstant(input.expires_at)!
        if (expiresAtMs <= ms || expiresAtMs > ms + MAX_WAIVER_MS) return yield* invalid(["expires_at"], `Expected a time from now to ${MAX_WAIVER_MS / 86_400_000} days from now`)
        const id = yield* newId("wvr")
        const planned = planRequest(id, { envelopeId, version: body.live!, ruleId: input.rule_id, expiresAtMs, reason: input.reason, unless: input.unless as NonNullable<WaiverDocument["unless"]> }, body.agentId, writer)
        yield* storage.commit(planned.change)
        return waiverOut(id, planned.waiver, ms)
      })),
      grant: (envelopeId, waiverId, writer, scope = everyUnit) => commitPlanned(Effect.gen(function*() {
        const epoch = yield* nextEpoch(storage)
        const { body } = yield* readStoredEnvelope(storage, envelopeId, scope)
        const document = isId("waiver", waiverId) ? yield* storage.get(WAIVERS, waiverId) : null
        if (document === null || document.body["envelopeId"] !== envelopeId) return yield* new WaiverNotFound({ waiverId })
        const stored: StoredWaiver = { id: waiverId, version: document.version, body: document.body as WaiverDocument }
        const { ms } = yield* storage.asOf
        const person = yield* secondPerson(storage, [stored.body.requestedBy], writer)
        const { change, waiver } = yield* Effect.fromResult(planGrant(stored, body.withdrawn ? null : body.live, ms, body.agentId, writer, person, epoch))
        yield* storage.commit(change)
        return waiverOut(waiverId, waiver, ms)
      })),
      list: Effect.fnUntraced(function*(envelopeId, scope = everyUnit) {
        yield* readStoredEnvelope(storage, envelopeId, scope)
        const { ms } = yield* storage.asOf
        return (yield* storage.find(WAIVERS, "envelope_id", envelopeId)).map(({ body, id }) => waiverOut(id, body as WaiverDocument, ms))
      })
    })
  }))
}
