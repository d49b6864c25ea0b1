/**
 * A recovered chain whose agents are bounded: envelopes, waivers, meters and latches that come from the chain before.
 */
import {
  Agents,
  Envelopes,
  Evaluations,
  layerOf,
  type RetiredChain,
  retiredChains,
  systemHost,
  Waivers
} from "@flyball/core"
import { type PartContent, Recomputation, type Recomputed } from "@flyball/rules"
import { Storage, type StorageApi } from "@flyball/core/storage"
import { formatInstant, readRecord } from "@flyball/evidence"
import { Clock, Effect, Layer } from "effect"
import { ORIGIN, type RecoverySite, session } from "./recovery-world.ts"

/** Two people who govern. */
const ann = { id: `usr_${"0".repeat(25)}1` }
const ben = { id: `usr_${"0".repeat(25)}2` }

/** Refunds: 10,000 a day, 1,000 at a time where the run read something untrusted. */
const refunds = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller", on_missing: 0 },
    untrusted: { type: "bool", source: "caller", on_missing: false },
    tainted: { type: "bool", source: "latch", set_by: "untrusted" }
  },
  effects: { refund: "read" },
  meters: { spent: { op: "sum", of: "amount", window_ms: 86_400_000, key: ["agent_id"] } },
  rules: [
    { id: "cap", outcome: "deny", when: [{ meter: "spent", after_gt: 10_000 }] },
    {
      id: "tainted",
      outcome: "deny",
      when: [
        { signal: "tainted", is: true },
        { signal: "amount", gt: 1_000 }
      ]
    },
    { id: "refund", outcome: "allow", when: [{ signal: "amount", lte: 5_000 }] },
    { id: "large", outcome: "deny", when: [{ signal: "amount", gt: 3_000 }] }
  ],
  default: { outcome: "deny" }
}

/** Reads nothing of earlier records. */
const searches = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller", on_missing: 0 },
    untrusted: { type: "bool", source: "caller", on_missing: false }
  },
  effects: { refund: "read" },
  rules: [{ id: "all", outcome: "allow", when: [] }],
  default: { outcome: "deny" }
}

/** An active agent under this envelope. */
const agentUnder = Effect.fnUntraced(function* (name: string, envelope: { readonly [member: string]: unknown }) {
  const agents = yield* Agents
  const envelopes = yield* Envelopes
  const {
    agent: { id }
  } = yield* agents.register({ name, org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" }, systemHost)
  const drafted = yield* envelopes.create({ name: "Bounds", agent_id: id, envelope }, ann)
  yield* envelopes.publish(drafted.id, {}, ben)
  yield* agents.update(id, { autonomy_tier: "L2" }, ben)
  yield* agents.activate(id, ben)
  return { agentId: id, envelopeId: drafted.id }
})

let refs = 0
/** Asks for a refund in a run; answers the outcome, the rule and the id of the evaluation. */
export const refund = (
  agentId: string,
  amount: number,
  more: { readonly untrusted?: boolean; readonly run?: string } = {}
) =>
  Evaluations.use((evaluations) =>
    Effect.map(
      evaluations.evaluate(
        {
          agent_id: agentId,
          client_ref: `refund-${refs++}`,
          signals: { tool: "refund", amount, untrusted: more.untrusted ?? false },
          run_id: more.run ?? "run-1"
        },
        systemHost
      ),
      ({ id, matched_rule: rule, outcome }) => ({ id, said: `${outcome} by ${rule}` })
    )
  )

/** Agents with bounds, and an evaluation that holds part of a cap. */
export interface Bounded {
  readonly agentId: string
  /** Under an envelope without meters. */
  readonly searcherId: string
  /** An evaluation that holds 2,000 of the 10,000. */
  readonly evaluationId: string
}

/**
 * Gives an empty store an agent that has spent 4,000 of 10,000 (2,000 more were given back), a waiver that lets 4,000
 * at once through, and a run that is tainted.
 */
export const bounded = (site: RecoverySite): Effect.Effect<Bounded, unknown> =>
  session(
    site,
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* agentUnder("refund bot", refunds)
      const { agentId: searcherId } = yield* agentUnder("search bot", searches)
      const nowMs = yield* Clock.currentTimeMillis
      yield* Waivers.use(
        Effect.fnUntraced(function* (waivers) {
          const { id } = yield* waivers.request(
            envelopeId,
            {
              rule_id: "large",
              unless: [{ signal: "amount", lte: 4_000 }],
              expires_at: formatInstant(nowMs + 3_600_000),
              reason: "quarter end"
            },
            ann
          )
          yield* waivers.grant(envelopeId, id, ben)
        })
      )
      const { id: evaluationId } = yield* refund(agentId, 2_000)
      yield* refund(agentId, 2_000)
      const given = yield* refund(agentId, 2_000)
      yield* Evaluations.use((evaluations) => evaluations.void(given.id, {}, systemHost))
      yield* refund(agentId, 0, { untrusted: true, run: "run-2" })
      return { agentId, searcherId, evaluationId }
    }),
    { origin: ORIGIN, tenantId: "acme" }
  )

/** Makes every evaluation of the chain that continues again: after the chains before it, or without them. */
export const remade = (site: RecoverySite, withEarlier: boolean): Effect.Effect<ReadonlyArray<Recomputed>, unknown> =>
  session(
    site,
    Effect.gen(function* () {
      const again = new Recomputation({ fromGenesis: withEarlier })
      const chains: ReadonlyArray<RetiredChain> = withEarlier ? yield* retiredChains : []
      let before = chains.reduce((sum, { size }) => sum + size, 0)
      for (const { size, storage } of chains) {
        yield* Effect.flatMap(Storage, (open) => taken(open, again, before)).pipe(
          Effect.provide(Layer.fresh(layerOf(storage)))
        )
        before -= size
      }
      return yield* taken(yield* Storage, again, 0)
    })
  )

const taken = Effect.fnUntraced(function* (storage: StorageApi, again: Recomputation, before: number) {
  const found: Array<Recomputed> = []
  for (const { atMs, bytes, seq } of yield* storage.records({ limit: 1_000 })) {
    const read = readRecord(bytes)
    if (!read.ok) return yield* Effect.die(new Error(`record ${seq} cannot be read`))
    const { body, kind } = read.record
    const parts = new Map(
      (yield* storage.parts([seq])).map(({ bytes: part, name }): [string, PartContent] => [
        name,
        part === null ? { state: "erased" } : { state: "present", bytes: part }
      ])
    )
    const one = again.take({ seq, kind, body, parts }, atMs, before)
    if (one !== null) found.push(one)
  }
  return found
})
