/**
 * Waivers: an exception to one rule, for a time, by two people. Spec: api.md "bounded autonomy"; envelopes.md 3.7;
 * decision 0025.
 */
import {
  detailItem,
  type EnvelopeNotFound,
  EnvelopeNotInForce,
  InvalidInput,
  isId,
  type SecondApproverRequired,
  type WaiverCreate,
  WaiverNotFound,
  type WaiverNotOpen,
  type WaiverOut
} from "@flyball/contract"
import { parseInstant } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { bind, type Layer as BoundLayer, type WaiverDocument, WAIVERS } from "@flyball/rules"
import { inForceReader } from "../envelopes/in-force.ts"
import { readWaiver, type Waiver } from "@flyball/envelope"
import { expiryProblems } from "../expiry.ts"
import { nextEpoch, readStoredEnvelope } from "../envelopes/stored-envelope.ts"
import { newId } from "../../foundation/ids.ts"
import { secondPerson } from "../../registry/principals/second-person.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { planGrant } from "./plan-grant.ts"
import { planRequest } from "./plan-request.ts"
import { type StoredWaiver, waiverOut } from "./document.ts"

/**
 * Longest duration of a waiver. Longer exceptions belong into the envelope. Unit: milliseconds. Spec: decision 0025.
 */
export const MAX_WAIVER_MS = 90 * 86_400_000

/**
 * Waivers of one envelope that hold at a time. Two envelopes bind an agent, and the record of an evaluation names up to
 * 64 waivers.
 */
export const MAX_WAIVERS_IN_FORCE = 32

/** Bytes of the part of a waiver. Spec: evidence, SPEC.md section 7, `waiver.requested`. */
const MAX_WAIVER_BYTES = 65_536

/** Operations on waivers. Spec: decision 0025. */
export interface WaiversApi {
  /** Asks for one, of the version in force. */
  readonly request: (
    envelopeId: string,
    input: WaiverCreate,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<WaiverOut, EnvelopeNotFound | EnvelopeNotInForce | InvalidInput | ReadFault>
  /** Grants a waiver that another person requested. */
  readonly grant: (
    envelopeId: string,
    waiverId: string,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<
    WaiverOut,
    EnvelopeNotFound | InvalidInput | SecondApproverRequired | WaiverNotFound | WaiverNotOpen | ReadFault
  >
  /** Oldest first. */
  readonly list: (
    envelopeId: string,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<WaiverOut>, EnvelopeNotFound | ReadFault>
}

/** Service of waivers. Spec: decision 0025. */
export class Waivers extends Context.Service<Waivers, WaiversApi>()("flyball/core/Waivers") {
  static readonly layer: Layer.Layer<Waivers, never, Storage> = Layer.effect(
    Waivers,
    Effect.gen(function* () {
      const storage = yield* Storage
      const inForce = inForceReader(storage)
      const invalid = (path: ReadonlyArray<string>, message: string, input: string | null = null) =>
        new InvalidInput({ detail: [detailItem(path, "value_error", message, input)] })

      /**
       * Why one more waiver of a version cannot hold beside those that do; null where it can. Each alone may fit, and
       * all together leave nothing that could be decided on: then everything is denied.
       */
      const noRoomFor = Effect.fnUntraced(function* (
        layer: BoundLayer,
        waiver: Waiver,
        nowMs: number
      ): Effect.fn.Return<string | null, ReadFault> {
        const { envelopeId, version } = layer
        const holding = (yield* storage.find(WAIVERS, "envelope_id", envelopeId)).filter(
          ({ body }) =>
            body["status"] === "granted" && body["version"] === version && Number(body["expiresAtMs"]) > nowMs
        )
        if (holding.length >= MAX_WAIVERS_IN_FORCE)
          return (
            `Up to ${MAX_WAIVERS_IN_FORCE} waivers of an envelope can be in force at a time. Change the ` +
            `envelope for longer exceptions, or wait until one has ended`
          )
        const beside =
          (yield* inForce.layer(
            envelopeId,
            version,
            holding.map(({ id }) => id)
          ))?.waivers ?? []
        return bind([{ ...layer, waivers: [...beside, { id: "", waiver }] }]).ready === null
          ? "With this exception and those in force the rule is too large to evaluate. Write a narrower one"
          : null
      })

      return Waivers.of({
        request: (envelopeId, input, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const { body } = yield* readStoredEnvelope(storage, envelopeId, scope)
              const layer =
                body.live === null || body.withdrawn ? null : yield* inForce.layer(envelopeId, body.live, [])
              if (layer === null || layer.envelope === null) return yield* new EnvelopeNotInForce()
              const { findings, waiver } = readWaiver(layer.envelope, input.rule_id, input.unless)
              const { ms } = yield* storage.asOf
              const noRoom = waiver === null ? null : yield* noRoomFor(layer, waiver, ms)
              const expiresAtMs = parseInstant(input.expires_at)!
              const detail = [
                ...(waiver === null ? findings : []).map(({ message, path }) =>
                  detailItem(["body", ...path.split("/").slice(1)], "value_error", message)
                ),
                ...(noRoom === null ? [] : [detailItem(["body", "unless"], "value_error", noRoom)]),
                ...expiryProblems(input.expires_at, ms, MAX_WAIVER_MS)
              ]
              if (detail.length > 0) return yield* new InvalidInput({ detail })
              const id = yield* newId("wvr")
              const planned = planRequest(
                id,
                {
                  envelopeId,
                  version: body.live!,
                  ruleId: input.rule_id,
                  expiresAtMs,
                  reason: input.reason,
                  unless: input.unless as NonNullable<WaiverDocument["unless"]>
                },
                body.agentId,
                writer
              )
              if (
                planned.change.records!.some(({ parts }) => parts.some(({ bytes }) => bytes.length > MAX_WAIVER_BYTES))
              )
                return yield* invalid(
                  ["body", "unless"],
                  `Expected conditions and a reason of up to ${MAX_WAIVER_BYTES} bytes as JSON`
                )
              yield* storage.commit(planned.change)
              return waiverOut(id, planned.waiver, ms)
            })
          ),
        grant: (envelopeId, waiverId, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const epoch = yield* nextEpoch(storage)
              const { body } = yield* readStoredEnvelope(storage, envelopeId, scope)
              const document = isId("waiver", waiverId) ? yield* storage.get(WAIVERS, waiverId) : null
              if (document === null || document.body["envelopeId"] !== envelopeId)
                return yield* new WaiverNotFound({ waiverId })
              const stored: StoredWaiver = {
                id: waiverId,
                version: document.version,
                body: document.body as WaiverDocument
              }
              const { ms } = yield* storage.asOf
              const person = yield* secondPerson(storage, [stored.body.requestedBy], writer)
              const { change, waiver } = yield* Effect.fromResult(
                planGrant(stored, body.withdrawn ? null : body.live, ms, body.agentId, writer, person, epoch)
              )
              const layer = yield* inForce.layer(envelopeId, waiver.version, [])
              const read =
                layer === null || layer.envelope === null
                  ? null
                  : readWaiver(layer.envelope, waiver.ruleId, waiver.unless).waiver
              const noRoom = layer === null || read === null ? null : yield* noRoomFor(layer, read, ms)
              if (noRoom !== null) return yield* invalid(["path", "waiver_id"], noRoom)
              yield* storage.commit(change)
              return waiverOut(waiverId, waiver, ms)
            })
          ),
        list: Effect.fnUntraced(function* (envelopeId, scope = everyUnit) {
          yield* readStoredEnvelope(storage, envelopeId, scope)
          const { ms } = yield* storage.asOf
          return (yield* storage.find(WAIVERS, "envelope_id", envelopeId)).map(({ body, id }) =>
            waiverOut(id, body as WaiverDocument, ms)
          )
        })
      })
    })
  )
}
