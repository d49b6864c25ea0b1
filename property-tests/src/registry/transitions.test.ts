/**
 * Random acts on agents, in turn, out of turn and at once, with weeks between: no agent ever goes a way that the table
 * does not have.
 */
import {
  Identities,
  Agents,
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  layerOf,
  memoryStorage,
  Provenance,
  Storage,
  suspendDue,
  systemHost,
  TierEvidence,
  transitions
} from "@flyball/core"
import { Clock, Effect, Layer } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isLong, runs } from "../runs.ts"

/** The same lives every time. */
const seed = 20_261_122
const lives = runs(30, 120)
const DAY_MS = 86_400_000

type Act = keyof typeof transitions
type Status = (typeof transitions)[Act]["from"][number] | "decommissioned"

/** Which act a record tells of; written here and not read from the code that writes them. */
const actOf: { readonly [kind: string]: Act } = {
  "agent.updated": "update",
  "agent.activated": "activate",
  "agent.suspended": "suspend",
  "agent.decommissioned": "decommission",
  "agent.owner_transferred": "transfer-ownership",
  "agent.orphaned": "disown",
  "agent.recertified": "recertify",
  "agent.identity_attested": "attach-identity",
  "agent.provenance_added": "add-provenance"
}

/** Refusals of an act that the table permits in this status. Nobody loses an owner twice. */
const gates: { readonly [act in Act]?: ReadonlyArray<string> } = {
  activate: ["TierGateUnmet"],
  update: ["TierGateUnmet"],
  disown: ["InvalidTransition"]
}

/** Acts whose answer does not tell the status. */
const silent: ReadonlySet<Act> = new Set(["add-provenance", "attach-identity"])

const acts = Object.keys(transitions) as ReadonlyArray<Act>
/** Decommissioning is the end, so it is rare. */
const act = fc.record({
  act: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...acts.filter((one) => one !== "decommission")) },
    { weight: 1, arbitrary: fc.constant("decommission" as const) }
  ),
  agent: fc.nat(1),
  n: fc.nat(40)
})
/** Acts of one group happen at once; then time passes, and the clock of the registry polls. */
const life = fc.array(
  fc.record({ acts: fc.array(act, { minLength: 1, maxLength: 4 }), days: fc.constantFrom(0, 0, 0, 1, 8) }),
  { minLength: 5, maxLength: 25, size: "max" }
)

const perform = (
  id: string,
  what: Act,
  n: number
): Effect.Effect<Status | null, { readonly _tag: string }, Agents | Identities | Provenance> =>
  Effect.gen(function* () {
    const agents = yield* Agents
    switch (what) {
      case "activate":
        return (yield* agents.activate(id, systemHost)).status
      case "suspend":
        return (yield* agents.suspend(id, {}, systemHost)).status
      case "decommission":
        return (yield* agents.decommission(id, systemHost)).status
      case "update":
        return (yield* agents.update(id, { purpose: `p${n}`, autonomy_tier: n % 3 === 0 ? "L4" : "L1" }, systemHost))
          .status
      case "transfer-ownership":
        return (yield* agents.transferOwnership(
          id,
          { owner_name: `heir ${n}`, owner_email: "h@example.org" },
          systemHost
        )).status
      case "disown":
        return (yield* agents.disown(id, { reason: "left" }, systemHost)).status
      case "recertify":
        return (yield* agents.recertify(
          id,
          { recert_due_at: new Date((yield* Clock.currentTimeMillis) + (1 + n) * DAY_MS).toISOString() },
          systemHost
        )).status
      case "attach-identity":
        yield* (yield* Identities).attach(
          id,
          { declared_source: "spiffe", declared_ref: `spiffe://x/${n}` },
          systemHost
        )
        return null
      case "add-provenance":
        yield* (yield* Provenance).add(id, { kind: "model", name: `piece ${n}`, digest: `sha256:${n}` }, systemHost)
        return null
    }
  })

const evidence = Layer.succeed(TierEvidence, {
  publishedEnvelope: () => Effect.succeed(true)
})
/**
 * The host's clock, `laterMs` on. Only what rules go by: timers run as they do, or everything that sleeps a second
 * would wake for each second of a week.
 */
const later = (laterMs: () => number) =>
  Effect.map(Clock.Clock, (clock): Clock.Clock => ({
    ...clock,
    sleep: (duration) => clock.sleep(duration),
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + laterMs(),
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (ms) => ms + laterMs())
  }))

const within = (
  inside: (pass: (days: number) => void) => Effect.Effect<void, unknown, GovernorServices | Storage>
): Promise<void> => {
  let laterMs = 0
  return inside((days) => void (laterMs += days * DAY_MS)).pipe(
    Effect.provide(
      governorLayer({ origin: "flyball.example/life" }).pipe(
        Layer.provideMerge(layerOf(memoryStorage())),
        Layer.provide(keysLayerOf(ephemeralKeys())),
        Layer.provide(evidence)
      )
    ),
    Effect.provide(
      Layer.effect(
        Clock.Clock,
        later(() => laterMs)
      )
    ),
    Effect.runPromise
  )
}

/**
 * Every status that the agent had, by its records and the table; fails where a record tells of an act that the table
 * does not have there.
 */
const walked = (id: string) =>
  Effect.gen(function* () {
    const records = yield* Storage.use((storage) => storage.records({ agentId: id, limit: 1_000 }))
    let status: Status = "draft"
    for (const { kind, seq } of records.filter(({ kind }) => Object.hasOwn(actOf, kind))) {
      const { from, to } = transitions[actOf[kind]!]
      expect(from, `record ${seq}, ${kind}, of an agent that is ${status}`).toContain(status)
      status = to ?? status
    }
    return status
  })

describe("the transition table", () => {
  it("holds for any sequence of acts, concurrent or weeks apart", { timeout: 120_000 }, async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(life, (groups) =>
        within((pass) =>
          Effect.gen(function* () {
            const agents = yield* Agents
            const ids = yield* Effect.forEach([0, 1], (n) =>
              Effect.map(
                agents.register(
                  { name: `agent ${n}`, org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" },
                  systemHost
                ),
                ({ agent }) => agent.id
              )
            )
            const statusOf = (id: string) => Effect.map(agents.get(id), ({ status }): Status => status)
            for (const { acts: together, days } of groups) {
              const before = yield* Effect.forEach(ids, statusOf)
              const answers = yield* Effect.all(
                together.map(({ act: what, agent, n }) =>
                  perform(ids[agent]!, what, n).pipe(
                    Effect.map((status) => status ?? "done"),
                    Effect.catch((refusal) => Effect.succeed(refusal._tag))
                  )
                ),
                { concurrency: "unbounded" }
              )
              // Alone, an act does what its row says of the status that was there, and nothing else.
              if (together.length === 1) {
                const [{ act: what, agent }] = together as [(typeof together)[0]]
                const { from, to } = transitions[what!]
                const status = before[agent]!
                // Suspended twice is suspended, and no record: `walked` finds one that tells of it.
                const repeats = what === "suspend" && status === "suspended"
                const expected = from.includes(status)
                  ? [silent.has(what) ? "done" : (to ?? status), ...(gates[what!] ?? [])]
                  : [repeats ? status : "InvalidTransition"]
                expect(expected, `${what} of an agent that is ${status}`).toContain(answers[0])
                if (answers[0] === "InvalidTransition" || answers[0] === "TierGateUnmet")
                  expect(yield* statusOf(ids[agent]!)).toBe(status)
              }
              answers.forEach((answer, index) => seen.add(`${together[index]!.act} ${answer}`))
              pass(days)
              if (days > 0) yield* suspendDue
              for (const id of ids) expect(yield* walked(id)).toBe(yield* statusOf(id))
            }
          })
        )
      ),
      { numRuns: lives, seed, endOnFailure: true }
    )
    if (!isLong) return
    // It would hold of lives in which nothing happens, too: every act was done, and every one refused out of turn.
    for (const what of acts) {
      expect(
        [...seen].filter((one) => one.startsWith(`${what} `)),
        what
      ).toContain(`${what} InvalidTransition`)
      expect(
        [...seen].some((one) => one.startsWith(`${what} `) && !/InvalidTransition|TierGateUnmet/.test(one)),
        what
      ).toBe(true)
    }
  })
})
