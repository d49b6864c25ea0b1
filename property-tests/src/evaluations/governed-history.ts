/**
 * Random histories of governed agents: evaluated, settled, voided, published again, suspended, with several processes'
 * worth of evaluators over one store.
 */
import type { EvaluationIn } from "@flyball/contract"
import {
  Agents,
  Capture,
  type Chain,
  type EnvelopeSource,
  Envelopes,
  Erasure,
  Evaluations,
  EvidenceCrypto,
  Waivers
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { reviewSteps } from "../../../packages/core/src/verdicts/reviews/steps.ts"
import { readRecords } from "../../../packages/core/src/outward/replay/read-records.ts"
import { Recomputation } from "../../../packages/rules/src/recompute/recomputation.ts"
import type { Recomputed } from "../../../packages/rules/src/recompute/recompute-verdict.ts"

/** Writers: two governors and an agent's host. */
export const ann = { id: `usr_${"0".repeat(25)}1` }
export const ben = { id: `usr_${"0".repeat(25)}2` }
export const host = { id: `key_${"0".repeat(25)}3` }

/** Amount that an agent may spend in a minute. */
export const CAP = 1_000
const WINDOW_MS = 60_000

/** An envelope with a cap for each agent and one for the org unit, a latch, and a rule whose bound varies. */
export const spending = (most: number): EnvelopeSource => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["find", "pay"], source: "caller" },
    amount: { type: "int", min: 0, max: 5_000, source: "caller", on_missing: 0 },
    unusual: { type: "bool", source: "caller", on_missing: false },
    seen_unusual: { type: "bool", source: "latch", set_by: "unusual" },
    tier: { type: "int", min: 0, max: 4, source: "server" }
  },
  effects: { find: "read", pay: "write_reversible" },
  meters: {
    spent: { op: "sum", of: "amount", where: { tool: ["pay"] }, window_ms: WINDOW_MS, key: ["agent_id"] },
    finds: { op: "count", where: { tool: ["find"] }, window_ms: WINDOW_MS / 2, key: ["run_id", "tool"] }
  },
  rules: [
    {
      id: "find",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["find"] },
        { meter: "finds", after_lte: 5 }
      ]
    },
    {
      id: "pay",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["pay"] },
        { signal: "amount", lte: most }
      ]
    },
    {
      id: "cap",
      outcome: "deny",
      when: [
        { signal: "tool", in: ["pay"] },
        { meter: "spent", after_gt: CAP }
      ]
    },
    {
      id: "unusual",
      outcome: "require_review",
      when: [
        { signal: "seen_unusual", is: true },
        { signal: "tool", in: ["pay"] }
      ]
    }
  ],
  default: { outcome: "deny" }
})

/** One act. Numbers choose what it is done to. */
export interface Act {
  readonly what: number
  readonly a: number
  readonly b: number
  readonly c: number
}

/** Result of a history: agents with their envelopes, and what was let through. */
export interface Lived {
  readonly agents: Array<{ readonly agentId: string; readonly envelopeId: string }>
  readonly evaluationIds: Array<string>
  readonly verdicts: Map<string, number>
}

type Asker = Evaluations["Service"]
type Doing = Effect.Effect<unknown, unknown, Agents | Capture | Envelopes | Evaluations | Storage | Waivers>

/** Evaluators that know nothing of each other, as those of several processes do. */
export const evaluators = (count: number): Effect.Effect<ReadonlyArray<Asker>, never, Storage | Chain> =>
  Effect.forEach(Array.from({ length: count }), () =>
    Effect.map(
      Effect.scoped(Layer.build(Layer.provide(Layer.fresh(Evaluations.layer), reviewSteps))),
      (context) => context.mapUnsafe.get(Evaluations.key) as Asker
    )
  )

/** Registers agents with an envelope each, active at L3. */
export const begin = (count: number, lived: Lived) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const envelopes = yield* Envelopes
    for (let n = 0; n < count; n++) {
      const { agent } = yield* agents.register(
        { name: `agent ${n}`, org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" },
        ann
      )
      const { id } = yield* envelopes.create({ name: `of ${n}`, agent_id: agent.id, envelope: spending(400) }, ann)
      yield* envelopes.publish(id, {}, ben)
      yield* agents.update(agent.id, { autonomy_tier: "L2" }, ann)
      yield* agents.activate(agent.id, ann)
      lived.agents.push({ agentId: agent.id, envelopeId: id })
    }
  })

/** Asks once; keeps the id and counts the verdict. */
export const ask = (asker: Asker, lived: Lived, input: EvaluationIn) =>
  asker.evaluate({ action_digest: `sha256:${"0a".repeat(32)}`, ...input }, host).pipe(
    Effect.tap((made) =>
      Effect.sync(() => {
        lived.evaluationIds.push(made.id)
        lived.verdicts.set(made.matched_rule, (lived.verdicts.get(made.matched_rule) ?? 0) + 1)
      })
    )
  )

/** Does groups of acts, those of a group at once. Refusals are part of it. */
export const live = (groups: ReadonlyArray<ReadonlyArray<Act>>, askers: ReadonlyArray<Asker>, lived: Lived) =>
  Effect.forEach(
    groups,
    (group) =>
      Effect.forEach(group, (act) => Effect.exit(doing(act, askers, lived)), {
        concurrency: "unbounded",
        discard: true
      }),
    { discard: true }
  )

let refs = 0

/** Does one act; histories of other things deal it too. */
export const doing = ({ a, b, c, what }: Act, askers: ReadonlyArray<Asker>, lived: Lived): Doing => {
  const { agentId, envelopeId } = lived.agents[a % lived.agents.length]!
  const asker = askers[b % askers.length]!
  switch (what % 40) {
    case 0:
      return TestClock.adjust((b + 1) * 700)
    case 1:
      return b % 3 === 0
        ? Agents.use((agents) => agents.suspend(agentId, {}, ann))
        : Agents.use((agents) => agents.activate(agentId, ann))
    case 2:
      return Agents.use((agents) => agents.update(agentId, { autonomy_tier: (["L1", "L2"] as const)[c % 2]! }, ann))
    case 3:
      return Effect.gen(function* () {
        const envelopes = yield* Envelopes
        yield* envelopes.update(envelopeId, { envelope: spending(100 + (c % 8) * 50) }, ann)
        yield* envelopes.publish(envelopeId, { mode: b % 3 === 0 ? "shadow" : "enforced" }, ben)
      })
    case 4:
      return b % 4 === 0
        ? Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ann))
        : Effect.gen(function* () {
            const waivers = yield* Waivers
            const { ms } = yield* Storage.use((storage) => storage.asOf)
            const { id } = yield* waivers.request(
              envelopeId,
              {
                rule_id: "unusual",
                unless: [{ signal: "amount", lte: c }],
                expires_at: new Date(ms + 5_000 + c * 500).toISOString(),
                reason: "x"
              },
              ann
            )
            yield* waivers.grant(envelopeId, id, ben)
          })
    case 5:
      return Effect.suspend(() =>
        lived.evaluationIds.length === 0
          ? Effect.void
          : asker.void(lived.evaluationIds[c % lived.evaluationIds.length]!, {}, ann)
      )
    case 6:
      return Effect.gen(function* () {
        const capture = yield* Capture
        const made = yield* ask(asker, lived, {
          agent_id: agentId,
          client_ref: `p${refs++}`,
          signals: { tool: "pay", amount: 10 + c },
          run_id: "r0"
        })
        const {
          receipts: [receipt]
        } = yield* capture.witness(
          agentId,
          [{ client_ref: `d${refs++}`, kind: "tool_call", action: "pay", status: "ok", evaluation_id: made.id }],
          host
        )
        // What came to less is for a person to say.
        yield* capture.settle(
          receipt!.decision_id,
          { status: "ok", actual: [{ meter: "spent", amount: c % 2 === 0 ? c : 10 + c * 2 }] },
          c % 2 === 0 ? ann : host
        )
      })
    default:
      return ask(asker, lived, {
        agent_id: agentId,
        client_ref: what % 9 === 0 ? `again ${c}`.replace(" ", "-") : `q${refs++}`,
        signals:
          c % 11 === 0
            ? { tool: "steal" }
            : { tool: c % 4 === 0 ? "find" : "pay", amount: c * 13, ...(c % 3 === 0 ? { unusual: true } : {}) },
        ...(c % 10 === 0 ? {} : { run_id: `r${b % 3}` })
      })
  }
}

/** A part that a history erased. */
export interface ErasedPart {
  readonly seq: number
  readonly name: string
}

/** Kinds whose parts are erased here, and the parts: what evaluations are made of. */
const erasable: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["evaluation.made", ["advice", "signals"]],
  ["envelope.drafted", ["envelope", "profile"]],
  ["envelope.published", ["envelope"]],
  ["waiver.requested", ["waiver"]],
  ["waiver.granted", ["waiver"]]
])

/**
 * Lives the groups, and after some of them erases a part of a record that there is by then. Answers the parts that are
 * gone.
 */
export const liveWithErasures = (
  groups: ReadonlyArray<ReadonlyArray<Act>>,
  erasures: ReadonlyArray<number>,
  askers: ReadonlyArray<Asker>,
  lived: Lived
) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const erasure = yield* Erasure
    const gone: Array<ErasedPart> = []
    for (const [place, group] of groups.entries()) {
      yield* live([group], askers, lived)
      const pick = erasures[place]
      if (pick === undefined) continue
      const records = yield* storage.records({ kinds: [...erasable.keys()], from: 0, limit: 1_000 })
      const record = records[pick % records.length]!
      for (const name of erasable.get(record.kind)!) {
        const exit = yield* Effect.exit(erasure.erase({ seq: record.seq, name, reason: "subject_request" }, ann))
        if (exit._tag === "Success") gone.push({ seq: record.seq, name })
      }
    }
    return gone
  })

/** Evaluates everything again, out of the records alone. */
export const evaluatedAgain = Effect.gen(function* () {
  const storage = yield* Storage
  const again = new Recomputation({ fromGenesis: true })
  const found: Array<Recomputed> = []
  yield* readRecords(
    storage,
    yield* EvidenceCrypto,
    { from: 0, to: (yield* storage.head)?.seq ?? -1 },
    (record) => {
      const one = again.take(record)
      if (one !== null) found.push(one)
    },
    () => {},
    "every part"
  )
  return found
})
