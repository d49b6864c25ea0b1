import { assert, describe, it } from "@effect/vitest"
import type { EnvelopeFinding, LintOut } from "@flyball/contract"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AccessMapping } from "../../registry/access-mapping/service.ts"
import { TrustsCanonicalRoles } from "../../registry/access-mapping/trusts-canonical-roles.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Capture } from "../capture/service.ts"
import { ann, ask, ben, key, recomputed, refunds } from "../evaluations/testing/refunds.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Breakers } from "../breakers/service.ts"
import { drilled } from "../drills/testing/drilled.ts"
import { Reviews } from "../reviews/service.ts"
import { answer } from "./examination/answer.ts"
import { Examiner } from "./examination/examiner.ts"
import { inPlaceLimits } from "./examination/questions.ts"
import { Envelopes } from "./service.ts"

/** Questions and answers go through JSON, as they do to a thread. */
const examiner = Layer.succeed(Examiner, {
  ask: (kind, about) =>
    Effect.sync(() => answer({ kind, about: JSON.parse(JSON.stringify(about)) as typeof about }, inPlaceLimits))
})
const world = () => governorWorld().pipe(Layer.provide(examiner))

const params = { window_ms: 3_600_000, min_samples: 4, threshold_bp: 5_000 }

const of = (code: string, { findings }: LintOut): ReadonlyArray<EnvelopeFinding> =>
  findings.filter((finding) => finding.code === code)
const notRequested = (code: string, { not_checked }: LintOut): string =>
  not_checked
    .filter((one) => one.code === code)
    .map(({ reason }) => reason)
    .join(" ")

const drafted = (
  envelope: { readonly [member: string]: unknown },
  blast_radius: { readonly [member: string]: unknown } = {}
) =>
  Effect.gen(function* () {
    const { agent } = yield* Agents.use((agents) =>
      agents.register(
        {
          name: `bot ${JSON.stringify(blast_radius)}`,
          org_unit: "ops",
          owner_name: "Ada",
          owner_email: "ada@example.org",
          blast_radius
        },
        ann
      )
    )
    const { id } = yield* Envelopes.use((envelopes) =>
      envelopes.create({ name: "Refunds", agent_id: agent.id, envelope }, ann)
    )
    return { agentId: agent.id, id, lint: Envelopes.use((envelopes) => envelopes.lint(id, {})) }
  })
const asking = (role: string, approvals = 1) =>
  refunds({
    rules: [
      {
        id: "refund",
        outcome: "require_review",
        when: [{ signal: "tool", in: ["refund"] }],
        obligations: [{ type: "reviewers", role, approvals, ttl_ms: 1_000 }]
      },
      { id: "search", outcome: "allow", when: [{ signal: "tool", in: ["search"] }] }
    ]
  })
const map = (role: "reviewer" | "governor", org_unit: string) =>
  AccessMapping.use((mapping) =>
    mapping.set(
      {
        rules: [
          { match: { claim: "groups", value: "a" }, role: "admin", org_unit: "*" },
          { match: { claim: "groups", value: "g" }, role, org_unit }
        ],
        trust_canonical: false
      },
      ann
    )
  )

describe("lint in the service", () => {
  it.effect("W208: compares what is permitted with the agent's blast radius", () =>
    Effect.gen(function* () {
      for (const [radius, signal] of [
        [{ max_single: { amount: 1_500, unit: "EUR/100" } }, "amount"],
        [{ max_single: 1_500 }, "amount"],
        [{ amount: 1_500 }, "amount"],
        [{ max_daily: { amount: 9_000, unit: "EUR/100" } }, "meter:spent"],
        [{ tools: ["search"] }, "tool"],
        [{ effect_classes: ["read"] }, "tool"]
      ] as const) {
        const found = of("W208", yield* (yield* drafted(refunds(), radius)).lint)
        assert.lengthOf(found, 1, JSON.stringify(radius))
        assert.include(found[0]!.message, `whose ${signal} is outside`)
        const value = (found[0]!.example as { readonly [name: string]: unknown })[signal]
        assert.isTrue(
          signal === "tool" ? value === "refund" : Number(value) > (signal === "amount" ? 1_500 : 9_000),
          `${signal} ${String(value)}`
        )
      }
      for (const radius of [
        { max_single: { amount: 2_000, unit: "EUR/100" } },
        { tools: ["search", "refund"] },
        { reversible: true }
      ]) {
        const clean = yield* (yield* drafted(refunds(), radius)).lint
        assert.deepStrictEqual([of("W208", clean), clean.proved.includes("W208")], [[], true])
      }
      const { tool, amount } = refunds()["signals"] as { readonly tool: object; readonly amount: object }
      const read = refunds({ signals: { tool, amount: { ...amount, source: "args", from: "/amount" } } })
      const single = { max_single: { amount: 1_000, unit: "EUR/100" } }
      assert.lengthOf(of("W208", yield* (yield* drafted(read, single)).lint), 1, "an amount in the arguments")
      assert.strictEqual(
        notRequested("W208", yield* (yield* drafted(refunds(), { max_single: { amount: 1, unit: "USD/100" } })).lint),
        "The blast radius bounds amount in USD/100, which is no signal of the envelope."
      )
      assert.strictEqual(notRequested("W208", yield* (yield* drafted(refunds())).lint), "No blast radius was given.")
    }).pipe(Effect.provide(world()))
  )

  it.effect("W208: of an org unit by the strictest of its agents", () =>
    Effect.gen(function* () {
      for (const max of [3_000, 1_200]) yield* drafted(refunds(), { max_single: { amount: max, unit: "EUR/100" } })
      const envelopes = yield* Envelopes
      const { id } = yield* envelopes.create({ name: "Unit", org_unit: "ops", envelope: refunds() }, ann)
      assert.isAbove(
        Number((of("W208", yield* envelopes.lint(id, {}))[0]!.example as { readonly amount: number }).amount),
        1_200
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("E108: a review that nobody may give is not published", () =>
    Effect.gen(function* () {
      const treasury = yield* drafted(asking("treasury"), { a: 1 })
      // Nobody is mapped: a host may say who has a role of another name.
      const unmapped = yield* treasury.lint
      assert.deepStrictEqual([of("E108", unmapped), unmapped.proved.includes("E108")], [[], false])
      assert.match(notRequested("E108", unmapped), /has the role treasury is for the host to say/)
      yield* map("governor", "*")
      assert.deepStrictEqual(
        of("E108", yield* treasury.lint).map(({ level, message, rules }) => [level, rules, message]),
        [
          [
            "error",
            ["refund"],
            "The rule refund asks for reviewers with the role treasury, which nobody can have. Nobody could ever " +
              "approve; name admin, governor, operator or reviewer."
          ]
        ]
      )
      assert.strictEqual(
        (yield* Effect.flip(Envelopes.use((envelopes) => envelopes.publish(treasury.id, {}, ben))))._tag,
        "EnvelopeNotPublishable"
      )
      // An auditor answers no reviews; a role that does counts for every weaker one, so an admin is enough.
      assert.lengthOf(of("E108", yield* (yield* drafted(asking("auditor"), { b: 1 })).lint), 1)
      for (const role of ["reviewer", "operator", "governor", "admin"]) {
        const known = yield* (yield* drafted(asking(role), { of: role })).lint
        assert.deepStrictEqual([of("E108", known), known.proved.includes("E108")], [[], true])
      }
      assert.lengthOf(of("E108", yield* (yield* drafted(asking("reviewer", 0), { c: 1 })).lint), 1)
      assert.include((yield* (yield* drafted(refunds({ rules: [] }), { d: 1 })).lint).proved, "E108")
    }).pipe(Effect.provide(world()))
  )

  it.effect("E108: roles of the service can be had where the host trusts their names in tokens, and no others", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(of("E108", yield* (yield* drafted(asking("reviewer"), { a: 1 })).lint), [])
      assert.lengthOf(of("E108", yield* (yield* drafted(asking("treasury"), { b: 1 })).lint), 1)
    }).pipe(Effect.provide(world().pipe(Layer.provide(Layer.succeed(TrustsCanonicalRoles, true)))))
  )

  it.effect("E108: two people cannot answer where the mapping names the owner alone", () =>
    Effect.gen(function* () {
      const two = refunds({
        rules: [
          {
            id: "refund",
            outcome: "require_review",
            when: [{ signal: "tool", in: ["refund"] }],
            obligations: [{ type: "two_person" }]
          }
        ]
      })
      const { lint } = yield* drafted(two)
      const own = { match: { claim: "user_ids", value: "Ada@example.org" }, org_unit: "*" } as const
      const set = (...rules: Parameters<(typeof AccessMapping.Service)["set"]>[0]["rules"]) =>
        AccessMapping.use((mapping) => mapping.set({ rules, trust_canonical: false }, ann))
      yield* set({ ...own, role: "admin" })
      assert.match(of("E108", yield* lint)[0]!.message, /only the agent's owner can answer reviews/)
      for (const more of [
        { match: { claim: "groups", value: "g" }, role: "reviewer", org_unit: "ops" },
        { match: { claim: "user_ids", value: "bo@example.org" }, role: "operator", org_unit: "*" }
      ] as const) {
        yield* set({ ...own, role: "admin" }, more)
        assert.deepStrictEqual(of("E108", yield* lint), [])
      }
      for (const more of [
        { match: { claim: "groups", value: "g" }, role: "reviewer", org_unit: "elsewhere" },
        { match: { claim: "groups", value: "g" }, role: "auditor", org_unit: "*" }
      ] as const) {
        yield* set({ ...own, role: "admin" }, more)
        assert.lengthOf(of("E108", yield* lint), 1)
      }
    }).pipe(Effect.provide(world()))
  )

  it.effect("E108: an envelope that was published before continues being evaluated", () =>
    Effect.gen(function* () {
      const { agentId, id } = yield* drafted(asking("treasury"))
      yield* Envelopes.use((envelopes) => envelopes.publish(id, {}, ben))
      yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, ben))
      yield* Agents.use((agents) => agents.activate(agentId, ben))
      yield* map("governor", "*")
      const signals = { tool: "refund", amount: 5 }
      const made = yield* ask(agentId, signals, { args: signals })
      assert.strictEqual(made.outcome, "require_review")
      const { needs } = yield* Reviews.use((reviews) => reviews.get(made.review_id!))
      assert.deepStrictEqual(needs, [{ role: "other", approvals: 1, is_met: false }])
    }).pipe(Effect.provide(world()))
  )

  it.effect("W211: tools that were seen and that the envelope does not know", () =>
    Effect.gen(function* () {
      const { agentId, id, lint } = yield* drafted(refunds())
      assert.strictEqual(notRequested("W211", yield* lint), "Which tools were seen was not given.")
      yield* Envelopes.use((envelopes) => envelopes.publish(id, {}, ben))
      yield* Agents.use((agents) => agents.activate(agentId, ben))
      yield* Envelopes.use((envelopes) => envelopes.update(id, { envelope: refunds({ name: "next" }) }, ann))
      yield* ask(agentId, { tool: "search" })
      assert.deepStrictEqual(of("W211", yield* lint), [])
      yield* ask(agentId, { tool: "drop_table" })
      yield* Capture.use((capture) =>
        capture.witness(
          agentId,
          [
            { client_ref: "d1", kind: "tool_call", action: "send_mail", status: "ok" },
            { client_ref: "d2", kind: "model_call", action: "think", status: "ok" }
          ],
          key
        )
      )
      const [found] = of("W211", yield* lint)
      assert.match(found!.message, /^drop_table and send_mail were seen/)
      assert.notInclude(found!.message, "think")
    }).pipe(Effect.provide(world()))
  )

  it.effect("W210 is reported as not checked, with the reason", () =>
    Effect.gen(function* () {
      const lint = yield* (yield* drafted(refunds())).lint
      assert.match(notRequested("W210", lint), /no capacity of the review queue were given/)
      assert.notInclude(lint.proved, "W210")
    }).pipe(Effect.provide(world()))
  )

  it.effect("warns of rules that the tier floor outdoes at the agent's tier, in lint and publish", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const paying = refunds({ effects: { search: "read", refund: "money" } })
      const { agentId, id, lint } = yield* drafted(paying)
      const warned = of("W213", yield* lint)
      assert.deepStrictEqual(
        warned.map(({ level, rules }) => [level, rules]),
        [
          ["warning", ["refund"]],
          ["warning", ["large"]]
        ]
      )
      const sentence =
        "`refund` is `money`: at L0 it is denied, from L1 reviewed, alone from L3 with a verified identity."
      for (const { message } of warned) assert.include(message, sentence)
      const published = yield* envelopes.publish(id, {}, ben)
      assert.deepStrictEqual(
        published.warnings!.filter(({ code }) => code === "W213"),
        warned
      )
      assert.isTrue(published.warnings!.every(({ level }) => level === "warning"))
      assert.deepStrictEqual(
        (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
        []
      )
      yield* Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, ben))
      assert.deepStrictEqual(
        of("W213", yield* envelopes.lint(id, { envelope: paying })).map(({ rules }) => rules),
        [["refund"]]
      )
      const unit = yield* envelopes.create({ name: "Unit", org_unit: "ops", envelope: paying }, ann)
      const ofUnit = yield* envelopes.lint(unit.id, {})
      assert.lengthOf(of("W213", ofUnit), 0)
      assert.include(notRequested("W213", ofUnit), "The tier of one agent")
    }).pipe(Effect.provide(Layer.fresh(world())))
  )

  it.effect("W212: counts the agents from tier 3 on that no breaker watches, or whose drill does not count", () =>
    Effect.gen(function* () {
      const { agentId, id } = yield* drafted(refunds())
      const lint = Envelopes.use((envelopes) => envelopes.lint(id, { envelope: refunds() }))
      const said = (report: LintOut) =>
        of("W212", report).map(({ message }) => / above (.*?)\. Arm a breaker, /.exec(message)![1])
      const atTier = (autonomy_tier: "L2" | "L3", agent = agentId) =>
        Agents.use((agents) => agents.update(agent, { autonomy_tier }, ben))
      const armed = (agent = agentId) =>
        Breakers.use((breakers) =>
          breakers.arm(agent, { name: "errors", metric: "error_rate", params, mode: "warn", enabled: true }, ann)
        )
      yield* Envelopes.use((envelopes) => envelopes.publish(id, {}, ben))
      yield* atTier("L2")
      const low = yield* lint
      assert.deepStrictEqual([said(low), low.proved.includes("W212")], [[], true])
      yield* atTier("L3")
      const neither = `1 has no armed breaker, and 1 has no attested drill that counts`
      assert.deepStrictEqual(said(yield* lint), [neither])
      const { id: breakerId } = yield* armed()
      assert.deepStrictEqual(said(yield* lint), [`1 has no attested drill that counts`])
      yield* drilled(agentId)
      assert.deepStrictEqual(said(yield* lint), [])
      yield* Breakers.use((breakers) => breakers.update(breakerId, { enabled: false }, ann))
      assert.deepStrictEqual(said(yield* lint), [`1 has no armed breaker`])
      yield* TestClock.adjust(31 * 86_400_000)
      assert.deepStrictEqual(said(yield* lint), [neither])
      // An org unit's envelope is for all of its agents, but for those at their end.
      const unit = yield* Envelopes.use((envelopes) =>
        envelopes.create({ name: "Unit", org_unit: "ops", envelope: refunds() }, ann)
      )
      const others = [yield* registered("other"), yield* registered("ended")]
      for (const other of others) yield* atTier("L3", other.id)
      yield* armed(others[0]!.id)
      yield* Agents.use((agents) => agents.decommission(others[1]!.id, ben))
      const ofUnit = yield* Envelopes.use((envelopes) => envelopes.lint(unit.id, {}))
      assert.deepStrictEqual(said(ofUnit), [`1 has no armed breaker, and 2 have no attested drill that counts`])
      // Of many agents all breakers are read.
      for (let n = 0; n < 32; n++) yield* atTier("L3", (yield* registered(`more ${n}`)).id)
      const ofMany = yield* Envelopes.use((envelopes) => envelopes.lint(unit.id, {}))
      assert.deepStrictEqual(said(ofMany), [`33 have no armed breaker, and 34 have no attested drill that counts`])
    }).pipe(Effect.provide(Layer.fresh(world())))
  )
})
