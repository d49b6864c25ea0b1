/**
 * Standing approvals: a person approves a box of inputs in advance, another puts it in force, evaluations use it up.
 * Spec: api.md "bounded autonomy"; decision 0050.
 */
import {
  type DetailItem,
  detailItem,
  EnvelopeNotInForce,
  InvalidInput,
  isId,
  NotTheApprover,
  type ReviewerNotEligible,
  ReviewNotApproved,
  ReviewNotFound,
  type SecondApproverRequired,
  type StandingApproval,
  type StandingApprovalCreate,
  type StandingApprovalListQuery,
  StandingApprovalNotFound,
  type StandingApprovalNotOpen,
  type StandingApprovalRevokeIn,
  StandingApprovalTooWide
} from "@flyball/contract"
import { askingFor, type Combination } from "@flyball/envelope"
import { canonicalBytes, parseInstant, toHex } from "@flyball/evidence"
import {
  type ActionInputs,
  actingSignals,
  bind,
  type Binding,
  boxOf,
  type Pin,
  pinnedAxes,
  proveStanding,
  readSide,
  type ReviewDocument,
  REVIEWS,
  serverSignals,
  shapeOf,
  signalsOf,
  STANDING_APPROVALS,
  type StandingApprovalDocument,
  type StandingProof
} from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { newId } from "../../foundation/ids.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, type StoredAgent } from "../../registry/agents/document.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { secondPerson } from "../../registry/principals/second-person.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type ChangeSet, type Document, type ReadFault, Storage } from "../../storage/port.ts"
import { isOwnerOf, toRequesterAndAuthors } from "../reviews/who-may-answer.ts"
import { inForceReader } from "../envelopes/in-force.ts"
import type { EvaluationRecord } from "../evaluations/evaluation-out.ts"
import { findEvaluation, type FoundEvaluation } from "../evaluations/find-evaluation.ts"
import { tiersOf } from "../evaluations/explanation-words.ts"
import { expiryProblems } from "../expiry.ts"
import { planGrant } from "./plan-grant.ts"
import { planPropose } from "./plan-propose.ts"
import { planRevoke } from "./plan-revoke.ts"
import { type StandingPlan, standingOut, storedStanding, type StoredStanding } from "./document.ts"

/** Longest that a standing approval holds. What shall hold longer belongs into the envelope. Unit: milliseconds. */
export const MAX_STANDING_MS = 90 * 86_400_000

/** Bytes of the box as JSON. */
const MAX_BOX_BYTES = 65_536
/** Standing approvals read at a time while listing. */
const PAGE = 500

/** The layers of a reviewed evaluation, and what must be as it is while a box is proved on them. */
interface Bound {
  readonly binding: Binding
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/** Operations on standing approvals. Spec: decision 0050. */
export interface StandingApprovalsApi {
  /**
   * Proposes one, from a review that the writer approved. It approves nothing before another person grants it.
   *
   * - Fails: `StandingApprovalTooWide` where the box holds inputs for which something asks that did not ask then, or
   *   that was not proved; `InvalidInput` where the reviewed action itself lies outside.
   */
  readonly propose: (
    input: StandingApprovalCreate,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<
    StandingApproval,
    | EnvelopeNotInForce
    | InvalidInput
    | NotTheApprover
    | ReviewNotApproved
    | ReviewNotFound
    | StandingApprovalTooWide
    | ReadFault
  >
  readonly get: (id: string, scope?: Scope) => Effect.Effect<StandingApproval, StandingApprovalNotFound | ReadFault>
  /** Oldest first. */
  readonly list: (
    query?: StandingApprovalListQuery,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<StandingApproval>, ReadFault>
  /**
   * Puts one in force that another person proposed. `email`: the address that the issuer says is the writer's.
   *
   * - Fails: `ReviewerNotEligible` for who may not answer its review: the requester, an author of the versions, and the
   *   owner where the review asks for two people.
   */
  readonly grant: (
    id: string,
    writer: Writer,
    scope?: Scope,
    email?: string | null
  ) => Effect.Effect<
    StandingApproval,
    ReviewerNotEligible | SecondApproverRequired | StandingApprovalNotFound | StandingApprovalNotOpen | ReadFault
  >
  readonly revoke: (
    id: string,
    input: StandingApprovalRevokeIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<StandingApproval, StandingApprovalNotFound | StandingApprovalNotOpen | ReadFault>
}

/** Service of standing approvals. Spec: decision 0050. */
export class StandingApprovals extends Context.Service<StandingApprovals, StandingApprovalsApi>()(
  "flyball/core/StandingApprovals"
) {
  static readonly layer: Layer.Layer<StandingApprovals, never, Storage> = Layer.effect(
    StandingApprovals,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const inForce = inForceReader(storage)

      const readStanding = Effect.fnUntraced(function* (
        id: string,
        scope: Scope
      ): Effect.fn.Return<StoredStanding, StandingApprovalNotFound | ReadFault> {
        const notFound = new StandingApprovalNotFound({ standingApprovalId: id })
        const document = isId("standingApproval", id) ? yield* storage.get(STANDING_APPROVALS, id) : null
        if (document === null) return yield* notFound
        const stored = storedStanding(document)
        yield* readAgent(storage, stored.body.agentId, scope).pipe(
          Effect.catchTag("AgentNotFound", () => Effect.fail(notFound))
        )
        return stored
      })

      /** The review, its evaluation, and the agent. */
      const reviewed = Effect.fnUntraced(function* (reviewId: string, writer: Writer, scope: Scope) {
        const document = yield* storage.get(REVIEWS, reviewId)
        if (document === null) return yield* new ReviewNotFound({ reviewId })
        const review = document.body as unknown as ReviewDocument
        const agent = yield* readAgent(storage, review.agentId, scope).pipe(
          Effect.catchTag("AgentNotFound", () => Effect.fail(new ReviewNotFound({ reviewId })))
        )
        if (review.ended !== "resolved" || review.resolution !== "approve") return yield* new ReviewNotApproved()
        if (!review.approvals.some(({ by }) => by === writer.id)) return yield* new NotTheApprover()
        const record = yield* findEvaluation(storage, review.evaluationId)
        const inputs = record === null ? null : inputsOf(record)
        return record === null || inputs === null ? yield* new ReviewNotApproved() : { agent, inputs, record }
      })

      /** The layers of the reviewed evaluation, which must be those in force: as long as `expects` holds. */
      const bindingOf = Effect.fnUntraced(function* (
        { body }: EvaluationRecord,
        agent: StoredAgent,
        nowMs: number
      ): Effect.fn.Return<Bound, EnvelopeNotInForce | ReadFault> {
        const { layers } = readSide(body)
        const { expects, live } = yield* inForce.of(agent.id, agent.body.orgUnit, nowMs)
        const now = live.layers
        if (
          layers.length !== now.length ||
          layers.some(
            ({ envelopeId, version }, at) => now[at]!.envelopeId !== envelopeId || now[at]!.version !== version
          )
        )
          return yield* new EnvelopeNotInForce()
        const found = []
        for (const { envelopeId, version } of layers) {
          const layer = yield* inForce.layer(envelopeId, version, (body["waivers"] ?? []) as ReadonlyArray<string>)
          if (layer === null) return yield* new EnvelopeNotInForce()
          found.push(layer)
        }
        return {
          binding: bind(found),
          expects: [...expects, { collection: AGENTS, id: agent.id, version: agent.version }]
        }
      })

      const acting = <E>(
        id: string,
        scope: Scope,
        plan: (stored: StoredStanding, nowMs: number) => Effect.Effect<StandingPlan, E>
      ) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const stored = yield* readStanding(id, scope)
            const { ms } = yield* storage.asOf
            const { change, standing } = yield* plan(stored, ms)
            yield* storage.commit(change)
            return standingOut(id, standing, ms)
          })
        )

      return StandingApprovals.of({
        propose: (input, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const { agent, inputs, record } = yield* reviewed(input.review_id, writer, scope)
              const pins = input.pins as ReadonlyArray<Pin>
              const { ms } = yield* storage.asOf
              const expiresAtMs = parseInstant(input.expires_at)!
              const { binding, expects } = yield* bindingOf(record, agent, ms)
              const compiled = binding.ready?.combination.compiled
              if (compiled === undefined) return yield* new EnvelopeNotInForce()
              const { layers, trace } = readSide(record.body)
              const asks = askingFor(compiled, trace)
              const { effective, tier } = tiersOf(record.body)
              const server = actingSignals(serverSignals(agent.body), { effective_tier: effective, tier })
              const proof = proveStanding({ asks, compiled, inputs, server }, pins)
              const box = { ...shapeOf(inputs), pins }
              const bytes = canonicalBytes(boxOf(box))
              const detail = [
                ...pinProblems(compiled.axes, proof, pins),
                ...(bytes.length > MAX_BOX_BYTES
                  ? [
                      detailItem(
                        ["body", "pins"],
                        "value_error",
                        `Expected a box of up to ${MAX_BOX_BYTES} bytes as JSON`
                      )
                    ]
                  : []),
                ...expiryProblems(input.expires_at, ms, MAX_STANDING_MS)
              ]
              if (detail.length > 0) return yield* new InvalidInput({ detail })
              if (proof.kind !== "proved")
                return yield* new StandingApprovalTooWide(
                  proof.kind === "wider" ? { rule: proof.rule, example: { ...proof.example } } : {}
                )
              const standing: StandingApprovalDocument = {
                agentId: agent.id,
                reviewId: input.review_id,
                evaluationId: String(record.body["evaluation_id"]),
                layers,
                asks,
                boxDigest: toHex(crypto.sha256(bytes)),
                ...box,
                reason: input.reason,
                count: input.count,
                left: input.count,
                expiresAtMs,
                status: "proposed",
                proposedBy: writer.id,
                grantedBy: null,
                revokedBy: null,
                revokeReason: null
              }
              const id = yield* newId("sap")
              yield* storage.commit({ ...planPropose(id, standing).change, expects })
              return standingOut(id, standing, ms)
            })
          ),
        get: Effect.fnUntraced(function* (id, scope = everyUnit) {
          const { body } = yield* readStanding(id, scope)
          return standingOut(id, body, (yield* storage.asOf).ms)
        }),
        list: Effect.fnUntraced(function* (query = {}, scope = everyUnit) {
          const { agent_id: agentId, limit = Number.POSITIVE_INFINITY, status } = query
          const { ms } = yield* storage.asOf
          const found: Array<StandingApproval> = []
          for (let after = query.after; found.length < limit;) {
            const page: ReadonlyArray<Document> =
              agentId === undefined
                ? yield* storage.list(STANDING_APPROVALS, { limit: PAGE, ...(after === undefined ? {} : { after }) })
                : (yield* storage.find(STANDING_APPROVALS, "agent_id", agentId)).filter(
                    ({ id }) => after === undefined || id > after
                  )
            for (const { body, id } of page.map(storedStanding)) {
              const shown = standingOut(id, body, ms)
              if (status !== undefined && shown.status !== status) continue
              if ((yield* Effect.option(readAgent(storage, body.agentId, scope)))._tag === "Some") found.push(shown)
            }
            if (agentId !== undefined || page.length < PAGE) break
            after = page.at(-1)!.id
          }
          return found.slice(0, limit)
        }),
        grant: (id, writer, scope = everyUnit, email = null) =>
          acting(
            id,
            scope,
            Effect.fnUntraced(function* (stored: StoredStanding, nowMs: number) {
              const { agentId, proposedBy, reviewId } = stored.body
              const review = (yield* storage.get(REVIEWS, reviewId))?.body as unknown as ReviewDocument
              const agent = yield* Effect.catchTag(readAgent(storage, agentId, everyUnit), "AgentNotFound", Effect.die)
              return yield* Effect.fromResult(
                planGrant(stored, nowMs, writer, {
                  toProposer: yield* secondPerson(storage, [proposedBy], writer),
                  toOthers: yield* toRequesterAndAuthors(storage, review, writer),
                  isOwner: review.twoPerson && isOwnerOf(agent, email)
                })
              )
            })
          ),
        revoke: (id, { reason = null }, writer, scope = everyUnit) =>
          acting(id, scope, (stored, nowMs) => Effect.fromResult(planRevoke(stored, nowMs, reason, writer)))
      })
    })
  )
}

/**
 * Inputs of the action of an evaluation; null where a part of it was erased, or its arguments are not all there: then
 * nobody knows what people approved.
 */
const inputsOf = ({ body, erased, parts }: FoundEvaluation): ActionInputs | null => {
  const signals = parts.get("signals")
  const action = parts.get("action")
  const args = parts.get("args")
  return signals === undefined || erased.includes("action") || erased.includes("args") || body["args_redacted"] === true
    ? null
    : {
        action: action === undefined ? null : (signalsOf(action) as string),
        signals: signalsOf(signals),
        args: args === undefined ? undefined : signalsOf(args)
      }
}

/** The pins whose values the action or the envelope does not have. */
const pinProblems = (
  axes: Combination["compiled"]["axes"],
  proof: StandingProof,
  pins: ReadonlyArray<Pin>
): ReadonlyArray<DetailItem> => {
  const at = (place: number, message: string) => [
    detailItem(["body", "pins", String(Math.max(0, place))], "value_error", message)
  ]
  switch (proof.kind) {
    case "outside":
      return at(proof.place, "The reviewed action is outside the box: its value at this path differs or is missing")
    case "misfit":
      return at(
        pins.findIndex((pin) => pinnedAxes(axes, pin).includes(proof.axis)),
        `The signal ${proof.axis} of the envelope has no such value`
      )
    default:
      return []
  }
}
