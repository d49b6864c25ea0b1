/**
 * A long chain of evaluations, as a service would have recorded it: agents and envelopes through the embedding library,
 * what comes after planned by the same pure plan and kept in the same book of windows. No store: it would take as many
 * minutes as this takes seconds.
 */
import type { EvaluationIn } from "@flyball/contract"
import { Agents, Checkpointer, Envelopes, ephemeralKeys, governorLayer, keysLayerOf, Packs } from "@flyball/core"
import { layerOf, memoryStorage, Storage } from "@flyball/core/storage"
import { concatBytes, encodeId, formatInstant, type JsonObject } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { openPack, type OpenPack, seededEntropy } from "@flyball/testkit"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AGENTS, storedAgent, type StoredAgent } from "../../packages/core/src/registry/agents/document.ts"
import { makeRequestedEvaluation } from "../../packages/core/src/verdicts/evaluations/asking.ts"
import { planEvaluate, type Windows } from "../../packages/core/src/verdicts/evaluations/plan-evaluate.ts"
import { foldMeters } from "../../packages/rules/src/evaluations/fold-meters.ts"
import { bind, type Layer as EnvelopeLayer } from "../../packages/rules/src/evaluations/layers.ts"
import { WindowBook } from "../../packages/envelope/src/meters/window-book.ts"
import { planOpen } from "../../packages/core/src/verdicts/reviews/plan-open.ts"
import { readEnvelope } from "../../packages/envelope/src/language/read-envelope.ts"
import { envelopeJson, inputsFrom } from "../envelopes-set.ts"

/** How long a chain is, and how fast its clock goes. */
export interface ChainShape {
  readonly evaluations: number
  readonly agents: number
  /** Unit: milliseconds between two evaluations. */
  readonly stepMs: number
}

/** A record to be sealed. */
export interface PlannedRecord {
  readonly at: string
  readonly kind: string
  readonly body: JsonObject
  readonly parts: ReadonlyArray<{ readonly name: string; readonly bytes: Uint8Array }>
}

const HOUR_MS = 3_600_000
const BEGIN_MS = Date.UTC(2026, 10, 21)
const ann = { id: `usr_${"0".repeat(25)}1` }
const ben = { id: `usr_${"0".repeat(25)}2` }
const host = { id: `key_${"0".repeat(25)}3` }

/**
 * The twenty rules, with a cap on what an agent spends in an hour, a count of what a run does in ten minutes, and a
 * latch.
 */
const envelope = {
  ...envelopeJson,
  signals: { ...envelopeJson.signals, seen_taint: { type: "bool", source: "latch", set_by: "tainted" } },
  meters: {
    spent: {
      op: "sum",
      of: "amount",
      where: { tool: ["refund", "wire_transfer"] },
      window_ms: HOUR_MS,
      key: ["agent_id"]
    },
    acts: { op: "count", window_ms: HOUR_MS / 6, key: ["run_id"] }
  },
  rules: [
    ...envelopeJson.rules,
    {
      id: "cap",
      outcome: "deny",
      when: [
        { signal: "tool", in: ["refund", "wire_transfer"] },
        { meter: "spent", after_gt: 2_000_000 }
      ]
    },
    { id: "busy", outcome: "require_review", when: [{ meter: "acts", after_gt: 500 }] },
    {
      id: "taint",
      outcome: "require_review",
      when: [
        { signal: "seen_taint", is: true },
        { signal: "tool", eq: "refund" }
      ]
    }
  ]
}

/** Every action has the same arguments: what reviews are bound to is compared, and its bytes do not matter. */
const ACTION_DIGEST = `sha256:${"0a".repeat(32)}`

/** Evaluations of one run; each agent is in one at a time. */
const IN_A_RUN = 40
/** Of so many evaluations that add to a meter one is witnessed and settled, and one voided. */
const SETTLED = 10
const VOIDED = 50
/** Evaluations after which the book lets go of what is past. */
const SWEEP_EVERY = 10_000

/** State when the evaluations begin: the pack, and the agents with their envelopes. */
export interface Begun {
  readonly pack: OpenPack
  readonly agents: ReadonlyArray<{ readonly stored: StoredAgent; readonly layer: EnvelopeLayer }>
}

/** Registers the agents, each at L2 under an envelope of its own. */
export const begin = (count: number): Promise<Begun> => {
  const inside = Effect.gen(function* () {
    const agents = yield* Agents
    const envelopes = yield* Envelopes
    const made: Array<{ readonly id: string; readonly envelopeId: string }> = []
    for (let n = 0; n < count; n++) {
      const {
        agent: { id }
      } = yield* agents.register(
        { name: `agent ${n}`, org_unit: "fin", owner_name: "Ada", owner_email: "ada@example.org" },
        ann
      )
      const { id: envelopeId } = yield* envelopes.create({ name: `of ${n}`, agent_id: id, envelope }, ann)
      yield* envelopes.publish(envelopeId, {}, ben)
      yield* agents.update(id, { autonomy_tier: "L2" }, ann)
      yield* agents.activate(id, ann)
      made.push({ id, envelopeId })
    }
    yield* Checkpointer.use(({ now }) => now)
    const chunks = yield* Packs.use((packs) => packs.export({ kind: "full", disclose: "all" }))
    const pack = openPack(
      yield* Effect.promise(async () =>
        concatBytes(...(await Array.fromAsync(chunks, (chunk) => Uint8Array.from(chunk))))
      )
    )
    const parsed = readEnvelope(envelope).envelope!
    const digests = new Map(
      pack.records.flatMap(({ body, kind }) =>
        kind === "envelope.published" ? [[String(body["envelope_id"]), String(body["digest"])]] : []
      )
    )
    const storage = yield* Storage
    return {
      pack,
      agents: yield* Effect.forEach(made, ({ envelopeId, id }) =>
        Effect.map(storage.get(AGENTS, id), (document) => ({
          stored: storedAgent(document!),
          layer: { envelopeId, version: 1, digest: digests.get(envelopeId)!, envelope: parsed, waivers: [] }
        }))
      )
    }
  })
  const governor = governorLayer({ origin: "flyball.example/replay" }).pipe(
    Layer.provideMerge(layerOf(memoryStorage())),
    Layer.provide(keysLayerOf(ephemeralKeys())),
    Layer.provide(seededEntropy("keys"))
  )
  return Effect.andThen(TestClock.setTime(BEGIN_MS), Effect.provide(inside, governor)).pipe(
    Effect.provide([TestClock.layer(), seededEntropy("ids")]),
    Effect.runPromise
  )
}

/** The records that come after. The same shape gives the same records. */
export function* evaluationsAfter(
  { agents, pack }: Begun,
  { evaluations, stepMs }: ChainShape
): Generator<PlannedRecord> {
  const inputs = inputsFrom(20_261_122, 4_096)
  const originTag = nodeCrypto.sha256(new TextEncoder().encode(pack.origin)).slice(0, 4)
  const bindings = agents.map(({ layer }) => bind([layer]))
  const book = new WindowBook()
  const windowIds = new Map<string, string>()
  const latched = new Map<string, ReadonlySet<string>>()
  let seq = pack.records.length
  let adding = 0
  const sealed = (atMs: number, kind: string, body: JsonObject, parts: PlannedRecord["parts"] = []): PlannedRecord => {
    foldMeters(book, { seq: seq++, kind, body })
    return { at: formatInstant(atMs), kind, body, parts }
  }
  for (let place = 0; place < evaluations; place++) {
    const atMs = BEGIN_MS + place * stepMs
    const who = place % agents.length
    const agent = agents[who]!.stored
    const runId = `run-${who}-${Math.floor(place / agents.length / IN_A_RUN)}`
    const windows: Windows = {
      windowOf: (_, owner, meter, key) => {
        const name = `${owner} ${meter} ${key}`
        const known = windowIds.get(name) ?? encodeId("mtr_", counted(windowIds.size))
        windowIds.set(name, known)
        return known
      },
      state: (window, windowMs) => book.state(window, windowMs, atMs)
    }
    const { caller } = inputs[(place * 7) & 4_095]!
    const input: EvaluationIn = {
      agent_id: agent.id,
      client_ref: `c-${place}`,
      run_id: runId,
      signals: caller,
      action_digest: ACTION_DIGEST
    }
    const requested = makeRequestedEvaluation(nodeCrypto, originTag, input, host)
    if (requested._tag === "Failure") throw requested.failure
    const plan = planEvaluate(
      requested.success,
      {
        agent,
        asOf: { ms: atMs, seq: seq - 1 },
        inForce: { live: bindings[who]!, shadow: null, expects: [] },
        kill: { state: "none", activations: [] },
        approved: false,
        latches: latched.get(runId) ?? none
      },
      windows
    )
    if (plan.latches.length > 0) latched.set(runId, new Set([...(latched.get(runId) ?? none), ...plan.latches]))
    const evaluationSeq = seq
    const opened =
      plan.live.outcome === "require_review"
        ? planOpen({
            ...plan.live,
            evaluationId: requested.success.evaluationId,
            agentId: agent.id,
            obligations: plan.obligations,
            actionDigest: ACTION_DIGEST.slice("sha256:".length),
            question: ACTION_DIGEST.slice("sha256:".length),
            kill: "none",
            writer: host,
            atMs
          })
        : null
    const body = plan.record.body as JsonObject
    yield sealed(
      atMs,
      plan.record.kind,
      opened === null ? body : { ...body, review_id: opened.reviewId },
      plan.record.parts
    )
    for (const { body, kind } of opened?.change.records ?? []) yield sealed(atMs, kind, body as JsonObject)
    if (place % SWEEP_EVERY === 0) book.forget(atMs - HOUR_MS)
    if (plan.reservations.length === 0) continue
    adding++
    const id = requested.success.evaluationId
    if (adding % SETTLED === 0) {
      const decisionSeq = seq
      yield sealed(atMs, "decision.witnessed", {
        action: caller.tool,
        agent_id: agent.id,
        agent_status: "active",
        client_ref: `d-${place}`,
        evaluation_id: id,
        kind: "tool_call",
        run_id: runId,
        status: "intended",
        writer: host.id
      })
      const actual = plan.reservations
        .map(({ amount, meter }) => ({ amount: meter === "spent" ? Math.floor(amount / 2) : amount, meter }))
        .sort((a, b) => (a.meter < b.meter ? -1 : 1))
      yield sealed(atMs, "decision.settled", {
        actual,
        agent_id: agent.id,
        decision_seq: decisionSeq,
        evaluation_seq: evaluationSeq,
        status: "ok",
        writer: ann.id
      })
    } else if (adding % VOIDED === 1)
      yield sealed(atMs, "meter.voided", {
        agent_id: agent.id,
        evaluation_id: id,
        evaluation_seq: evaluationSeq,
        writer: ann.id
      })
  }
}

const none: ReadonlySet<string> = new Set()

const counted = (n: number): Uint8Array => {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setUint32(12, n)
  return bytes
}
