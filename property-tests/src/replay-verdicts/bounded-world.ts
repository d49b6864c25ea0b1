/** A governor whose agents are bounded, and the packs that it gives out. */
import {
  Agents,
  Chain,
  Checkpointer,
  Envelopes,
  ephemeralKeys,
  Evaluations,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  Packs,
  systemHost
} from "@flyball/core"
import { layerOf, memoryStorage, type Storage, type StorageChoice } from "@flyball/core/storage"
import { concatBytes } from "@flyball/evidence"
import { seededEntropy } from "@flyball/testkit"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

/** Two people who govern, and the host of an agent. */
export const ann = { id: `usr_${"0".repeat(25)}1` }
export const ben = { id: `usr_${"0".repeat(25)}2` }
export const host = { id: `key_${"0".repeat(25)}3` }

/** When histories begin. Unit: milliseconds since 1970 UTC. */
export const beginMs = Date.UTC(2026, 10, 21)

/**
 * Runs in a new governor over a new store, on a clock that only the history moves. It is set before anything sleeps: a
 * sleeper would wake for every second of the years between.
 */
export const inBoundedWorld = <A>(
  inside: Effect.Effect<A, unknown, GovernorServices | Storage>,
  choice: StorageChoice = memoryStorage()
): Promise<A> => {
  const governor = governorLayer({ origin: "flyball.example/bounds" }).pipe(
    Layer.provideMerge(layerOf(choice)),
    Layer.provide(keysLayerOf(ephemeralKeys())),
    Layer.provide(seededEntropy("keys"))
  )
  return Effect.andThen(TestClock.setTime(beginMs), Effect.provide(inside, governor)).pipe(
    Effect.provide([TestClock.layer(), seededEntropy("ids")]),
    Effect.runPromise
  )
}

/** Refunds up to 2,000 by itself, 10,000 a day; searches freely, until it read something untrusted. */
export const refunds = (more: { readonly [member: string]: unknown } = {}): { readonly [member: string]: unknown } => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["search", "refund"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "caller", on_missing: 0 },
    untrusted: { type: "bool", source: "caller", on_missing: false },
    tainted: { type: "bool", source: "latch", set_by: "untrusted" }
  },
  effects: { search: "read", refund: "write_reversible" },
  meters: { spent: { op: "sum", of: "amount", where: { tool: ["refund"] }, window_ms: 86_400_000, key: ["agent_id"] } },
  rules: [
    { id: "search", outcome: "allow", when: [{ signal: "tool", in: ["search"] }] },
    {
      id: "refund",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "amount", lte: 2_000 }
      ]
    },
    {
      id: "large",
      outcome: "require_review",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "amount", gt: 2_000 }
      ]
    },
    {
      id: "cap",
      outcome: "deny",
      when: [
        { signal: "tool", in: ["refund"] },
        { meter: "spent", after_gt: 10_000 }
      ]
    },
    {
      id: "tainted",
      outcome: "deny",
      when: [
        { signal: "tainted", is: true },
        { signal: "tool", in: ["refund"] }
      ]
    }
  ],
  default: { outcome: "deny" },
  ...more
})

/** An active agent with an owner. */
export const activeAgent = (name: string, orgUnit = "support") =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const {
      agent: { id }
    } = yield* agents.register(
      { name, org_unit: orgUnit, owner_name: "Ada", owner_email: "ada@example.org", blast_radius: { max_fan_out: 3 } },
      systemHost
    )
    yield* agents.activate(id, ben)
    return id
  })

/** Puts an envelope in force: one person writes it, another publishes. */
export const publish = (
  target: { readonly agent_id: string } | { readonly org_unit: string },
  envelope: { readonly [member: string]: unknown }
) =>
  Effect.gen(function* () {
    const envelopes = yield* Envelopes
    const { id } = yield* envelopes.create({ name: "Refunds", ...target, envelope }, ann)
    yield* envelopes.publish(id, {}, ben)
    return id
  })

/** Writes a draft again and puts it in force. */
export const republish = (
  id: string,
  envelope: { readonly [member: string]: unknown },
  mode: "enforced" | "shadow" = "enforced"
) =>
  Effect.gen(function* () {
    const envelopes = yield* Envelopes
    yield* envelopes.update(id, { envelope }, ann)
    yield* envelopes.publish(id, { mode }, ben)
  })

let refs = 0
/** Asks for leave, each time under a new reference and in one run. */
export const ask = (agentId: string, signals: { readonly [name: string]: unknown }, run = "run-1") =>
  Evaluations.use((evaluations) =>
    evaluations.evaluate({ agent_id: agentId, client_ref: `ref-${refs++}`, signals, args: signals, run_id: run }, host)
  )

/** A pack of everything so far, and the key that signed it. */
export const exported = (request: {
  readonly kind: "full" | "range" | "sparse"
  readonly from?: number
  readonly to?: number
  readonly disclose?: "all" | "none" | ReadonlyArray<string>
}) =>
  Effect.gen(function* () {
    const packs = yield* Packs
    yield* Checkpointer.use(({ now }) => now)
    const chunks = yield* packs.export({ disclose: "all", ...request })
    const gathered: Array<Uint8Array> = []
    yield* Effect.promise(async () => {
      for await (const chunk of chunks) gathered.push(Uint8Array.from(chunk))
    })
    return { pack: concatBytes(...gathered), vkey: (yield* Chain).vkey }
  })
