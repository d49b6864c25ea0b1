import { assert, describe, it } from "@effect/vitest"
import { type EnvelopeNotPublishable, SecondApproverRequired } from "@flyball/contract"
import { canonicalBytes } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../registry/agents/service.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { ann, ask, ben, governedAgent, recomputed, refunds } from "../evaluations/testing/refunds.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Waivers } from "../waivers/service.ts"
import { Envelopes } from "./service.ts"

const sound = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})
const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
const outcome = (agentId: string, signals: { readonly [name: string]: unknown }) =>
  Effect.map(ask(agentId, signals), (made) => [made.outcome, made.matched_rule])
const lastOf = (kind: string) =>
  Effect.map(
    Storage.use((storage) => storage.records({ kinds: [kind], order: "desc", limit: 1 })),
    ([record]) => record!.seq
  )
const erase = (seq: number, name: string) =>
  Erasure.use((erasure) => erasure.erase({ seq, name, reason: "subject_request" }, ann))
/** The envelope without what refunds by itself. */
const tighter = () => ({
  ...refunds(),
  rules: (refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).map((rule) =>
    rule.id === "refund" ? { ...rule, outcome: "require_review" } : rule
  )
})

describe("an envelope", () => {
  it.effect("is drafted by one, published by another, and then stands as a version", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const agent = yield* registered("bot")
      const drafted = yield* envelopes.create({ name: "Refunds", agent_id: agent.id, envelope: refunds() }, ann)
      assert.deepInclude(drafted, {
        status: "draft",
        live_version: null,
        agent_id: agent.id,
        org_unit: null,
        revision: 1
      })
      const refused = yield* Effect.flip(envelopes.publish(drafted.id, {}, ann))
      assert.isTrue(
        refused instanceof SecondApproverRequired &&
          refused.change === "loosens" &&
          (refused.sentence ?? "").startsWith("Newly allowed")
      )
      const version = yield* envelopes.publish(drafted.id, {}, ben)
      assert.deepInclude(version, {
        version: 1,
        status: "published",
        mode: "enforced",
        change: "loosens",
        authors: [ann.id],
        published_by: ben.id,
        envelope: refunds()
      })
      assert.deepInclude(yield* envelopes.get(drafted.id), {
        status: "published",
        live_version: 1,
        draft: null,
        revision: 2
      })
      assert.strictEqual(yield* tag(envelopes.publish(drafted.id, {}, ben)), "NothingToPublish")
      assert.strictEqual(yield* tag(envelopes.version(drafted.id, 2)), "EnvelopeVersionNotFound")
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is the text that was handed over, whatever its caller does to it afterwards", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const agent = yield* registered("bot")
      const text = refunds() as { rules: Array<unknown> }
      const input = { name: "Refunds", agent_id: agent.id, envelope: text }
      const creating = envelopes.create(input, ann)
      text.rules.length = 0
      input.name = "Other"
      const { id } = yield* creating
      text.rules.push({ id: "late", outcome: "allow", when: [] })
      const { draft, name } = yield* envelopes.get(id)
      assert.deepStrictEqual([name, draft], ["Refunds", { ...draft, envelope: refunds() }])
      const changed = refunds({ name: "again" }) as { rules: Array<unknown> }
      const updating = envelopes.update(id, { envelope: changed }, ann)
      changed.rules.length = 0
      yield* updating
      changed.rules.push({ id: "late", outcome: "allow", when: [] })
      assert.deepStrictEqual((yield* envelopes.publish(id, {}, ben)).envelope, refunds({ name: "again" }))
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is tightened by one person, its author; loosened again by another only", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { agentId, envelopeId } = yield* governedAgent()
      yield* envelopes.update(envelopeId, { envelope: tighter() }, ann)
      assert.deepInclude(yield* envelopes.diff(envelopeId, {}), { from: 1, to: 0, change: "tightening_only" })
      assert.deepInclude(yield* envelopes.publish(envelopeId, {}, ann), { version: 2, change: "tightening_only" })
      assert.deepStrictEqual(yield* outcome(agentId, { tool: "refund", amount: 1 }), ["require_review", "refund"])
      yield* envelopes.update(envelopeId, { envelope: refunds() }, ann)
      yield* envelopes.update(envelopeId, { envelope: refunds({ name: "again" }) }, ben)
      for (const author of [ann, ben])
        assert.strictEqual(yield* tag(envelopes.publish(envelopeId, {}, author)), "SecondApproverRequired")
      yield* envelopes.publish(envelopeId, {}, { id: "system:third" })
      assert.deepStrictEqual(
        (yield* envelopes.versions(envelopeId)).map(({ status, version }) => [version, status]),
        [
          [1, "superseded"],
          [2, "superseded"],
          [3, "published"]
        ]
      )
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has a draft that forgets none of its authors: the 65th is refused, and the first may not publish it", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const agent = yield* registered("bot")
      const { id } = yield* envelopes.create({ name: "Refunds", agent_id: agent.id, envelope: refunds() }, ann)
      const writers = Array.from({ length: 63 }, (_, i) => ({ id: `system:author-${i}` }))
      for (const writer of writers) yield* envelopes.update(id, { envelope: refunds() }, writer)
      assert.strictEqual(yield* tag(envelopes.update(id, { envelope: refunds() }, ben)), "InvalidInput")
      yield* envelopes.update(id, { envelope: refunds() }, writers[0]!)
      for (const author of [ann, writers[62]!])
        assert.strictEqual(yield* tag(envelopes.publish(id, {}, author)), "SecondApproverRequired")
      assert.strictEqual((yield* envelopes.publish(id, {}, ben)).authors.length, 64)
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect(
    "has a draft that its author writes again without a record; another who writes the same becomes an author",
    () =>
      Effect.gen(function* () {
        const envelopes = yield* Envelopes
        const agent = yield* registered("bot")
        const { draft, id, revision } = yield* envelopes.create(
          { name: "Refunds", agent_id: agent.id, envelope: refunds() },
          ann
        )
        const seq = Effect.map(
          Storage.use(({ asOf }) => asOf),
          (asOf) => asOf.seq
        )
        const before = yield* seq
        assert.deepInclude(yield* envelopes.update(id, { envelope: refunds(), if_revision: revision }, ann), {
          draft,
          revision
        })
        assert.strictEqual(yield* seq, before)
        assert.strictEqual(
          yield* tag(envelopes.update(id, { envelope: refunds(), if_revision: revision + 1 }, ann)),
          "EnvelopeRevisionConflict"
        )
        assert.deepStrictEqual((yield* envelopes.update(id, { envelope: refunds() }, ben)).draft?.authors, [
          ann.id,
          ben.id
        ])
        assert.strictEqual((yield* envelopes.update(id, { envelope: tighter() }, ann)).revision, revision + 2)
        assert.strictEqual(yield* seq, before + 2)
        // What was erased is written again.
        yield* erase(yield* lastOf("envelope.drafted"), "envelope")
        assert.deepStrictEqual((yield* envelopes.update(id, { envelope: tighter() }, ann)).draft?.envelope, tighter())
        yield* sound
      }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has no draft that is larger than its record may hold", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const agent = yield* registered("bot")
      // As many characters as the interface takes, and three times as many bytes.
      const large = (length: number) => refunds({ about: "\u20ac".repeat(length) })
      const room = Math.floor((262_144 - canonicalBytes(large(0)).length) / 3)
      assert.strictEqual(
        yield* tag(envelopes.create({ name: "x", agent_id: agent.id, envelope: large(room + 1) }, ann)),
        "InvalidInput"
      )
      const { id } = yield* envelopes.create({ name: "x", agent_id: agent.id, envelope: large(room) }, ann)
      assert.strictEqual(yield* tag(envelopes.update(id, { envelope: large(200_000) }, ann)), "InvalidInput")
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("with errors is not published, and says what they are", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const agent = yield* registered("bot")
      const wrong = refunds({
        rules: [
          {
            id: "never",
            outcome: "allow",
            when: [
              { signal: "amount", gt: 5 },
              { signal: "amount", lt: 3 }
            ]
          },
          { id: "unknown", outcome: "deny", when: [{ signal: "amuont", gt: 5 }] }
        ]
      })
      const { id } = yield* envelopes.create({ name: "x", agent_id: agent.id, envelope: wrong }, ann)
      const codes = (error: unknown) =>
        (error as EnvelopeNotPublishable).findings!.map((finding) => (finding as { readonly code: string }).code)
      assert.deepStrictEqual(codes(yield* Effect.flip(envelopes.publish(id, {}, ben))), ["E100"])
      const [unknown, never] = [wrong, { ...wrong, rules: (wrong["rules"] as ReadonlyArray<unknown>).slice(0, 1) }]
      assert.deepInclude((yield* envelopes.lint(id, {})).findings[0], {
        code: "E100",
        level: "error",
        path: "/rules/1/when/0/signal"
      })
      assert.deepStrictEqual(
        (yield* envelopes.lint(id, { envelope: never })).findings
          .filter(({ level }) => level === "error")
          .map(({ code, rules }) => [code, rules]),
        [["E101", ["never"]]]
      )
      assert.isFalse((yield* envelopes.lint(id, { envelope: unknown })).publishable)
      yield* envelopes.update(
        id,
        {
          envelope: refunds({
            signals: { ...(refunds()["signals"] as object), mood: { type: "bool", source: "server" } }
          })
        },
        ann
      )
      assert.deepStrictEqual(
        codes(yield* Effect.flip(envelopes.publish(id, {}, ben))).filter((code) => code === "E100"),
        ["E100"]
      )
      assert.isTrue((yield* envelopes.lint(id, { envelope: refunds() })).publishable)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("of an org unit binds its agents too, and only tightens", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { agentId } = yield* governedAgent()
      const unit = yield* envelopes.create({ name: "All of ops", org_unit: "ops", envelope: tighter() }, ann)
      assert.strictEqual(
        yield* tag(envelopes.create({ name: "x", org_unit: "ops", envelope: {} }, ann)),
        "EnvelopeExists"
      )
      assert.strictEqual(yield* tag(envelopes.create({ name: "x", envelope: {} }, ann)), "InvalidInput")
      assert.strictEqual(
        yield* tag(envelopes.create({ name: "x", org_unit: "sales", envelope: {} }, ann, { orgUnits: ["ops"] })),
        "OrgUnitNotAllowed"
      )
      yield* envelopes.publish(unit.id, {}, ben)
      assert.deepStrictEqual(yield* outcome(agentId, { tool: "refund", amount: 1 }), ["require_review", "refund"])
      assert.deepStrictEqual(
        (yield* ask(agentId, { tool: "search" })).layers.map(({ envelope_id }) => envelope_id === unit.id),
        [true, false]
      )
      const other = yield* registered("another of ops")
      yield* Agents.use((agents) => agents.activate(other.id, ben))
      assert.deepInclude(yield* ask(other.id, { tool: "search" }), { outcome: "allow", envelope_id: unit.id })
      // A layer more can only tighten, so its author puts it there alone.
      const own = yield* envelopes.create({ name: "its own", agent_id: other.id, envelope: refunds() }, ann)
      // What the org unit denies anyway is said twice.
      assert.deepInclude(
        (yield* envelopes.lint(own.id, {})).findings.find(({ level }) => level === "error"),
        { code: "E102" }
      )
      yield* envelopes.update(
        own.id,
        {
          envelope: refunds({
            rules: (refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).filter(({ id }) => id !== "cap")
          })
        },
        ann
      )
      assert.strictEqual((yield* envelopes.publish(own.id, {}, ann)).change, "equal")
      yield* envelopes.withdraw(unit.id, {}, ann)
      for (const id of [agentId, other.id])
        assert.deepStrictEqual(yield* outcome(id, { tool: "search" }), ["deny", "@no_envelope"])
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("of another declaration of a signal does not come beside an org unit's", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      yield* governedAgent()
      const signals = { ...(refunds()["signals"] as object), amount: { type: "bool", source: "caller" } }
      const unit = yield* envelopes.create(
        { name: "ops", org_unit: "ops", envelope: { ...refunds({ signals, meters: {} }), rules: [] } },
        ann
      )
      assert.strictEqual(yield* tag(envelopes.publish(unit.id, {}, ben)), "EnvelopeNotPublishable")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("on trial is reported beside the verdict, binds nobody and keeps its own meters", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { agentId, envelopeId } = yield* governedAgent()
      const rules = (refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).map((rule) =>
        rule.id === "cap"
          ? {
              ...rule,
              when: [
                { signal: "tool", in: ["refund"] },
                { meter: "spent", after_gt: 3_000 }
              ]
            }
          : rule
      )
      yield* envelopes.update(envelopeId, { envelope: refunds({ rules }) }, ann)
      assert.deepInclude(yield* envelopes.publish(envelopeId, { mode: "shadow" }, ann), {
        version: 2,
        status: "shadow",
        mode: "shadow"
      })
      const shadows: Array<string> = []
      for (let time = 0; time < 3; time++) {
        const made = yield* ask(agentId, { tool: "refund", amount: 2_000 })
        assert.deepInclude(made, { outcome: "allow_with_notice", mode: "enforced", envelope_version: 1 })
        shadows.push(made.shadow!.outcome)
      }
      assert.deepStrictEqual(shadows, ["allow_with_notice", "deny", "deny"])
      assert.deepInclude((yield* envelopes.backtest(envelopeId, { meters: "counterfactual" })).classes, {
        unchanged: 1,
        newly_denied: 2
      })
      yield* sound
      assert.deepInclude(yield* envelopes.publish(envelopeId, {}, ann), {
        version: 3,
        mode: "enforced",
        change: "tightening_only"
      })
      assert.isNull((yield* ask(agentId, { tool: "search" })).shadow)
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is tested on what was recorded", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { agentId, envelopeId } = yield* governedAgent()
      for (const amount of [100, 900, 5_000]) yield* ask(agentId, { tool: "refund", amount })
      yield* envelopes.update(envelopeId, { envelope: tighter() }, ann)
      const report = yield* envelopes.backtest(envelopeId, {})
      assert.deepInclude(report, { total: 3, meters: "recorded", not_replayable: {} })
      assert.deepInclude(report.classes, { unchanged: 1, newly_reviewed: 2 })
      assert.deepStrictEqual(
        report.transitions.map(({ count, from, to }) => [from, to, count]),
        [["allow_with_notice", "require_review", 2]]
      )
      assert.deepInclude((yield* envelopes.backtest(envelopeId, { meters: "counterfactual" })).classes, {
        newly_reviewed: 2
      })
      assert.strictEqual((yield* envelopes.diff(envelopeId, {})).history_total, 3)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("opens the tier gate when it is published, and closes it when it is withdrawn", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const agents = yield* Agents
      const agent = yield* registered("bot")
      yield* agents.update(agent.id, { autonomy_tier: "L2" }, ann)
      assert.strictEqual(yield* tag(agents.activate(agent.id, ann)), "TierGateUnmet")
      const { id } = yield* envelopes.create({ name: "x", agent_id: agent.id, envelope: refunds() }, ann)
      assert.strictEqual(yield* tag(agents.activate(agent.id, ann)), "TierGateUnmet")
      yield* envelopes.publish(id, {}, ben)
      yield* agents.activate(agent.id, ann)
      yield* agents.suspend(agent.id, {}, ann)
      yield* envelopes.withdraw(id, { reason: "x" }, ann)
      assert.strictEqual(yield* tag(envelopes.withdraw(id, {}, ann)), "EnvelopeNotInForce")
      assert.strictEqual(yield* tag(agents.activate(agent.id, ann)), "TierGateUnmet")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("says why it was withdrawn, until that is erased or a version is in force again", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { envelopeId } = yield* governedAgent()
      const shown = Effect.map(envelopes.get(envelopeId), ({ status, withdrawal_reason }) => [
        status,
        withdrawal_reason
      ])
      const again = Effect.gen(function* () {
        yield* envelopes.update(envelopeId, { envelope: refunds() }, ann)
        yield* envelopes.publish(envelopeId, {}, ben)
      })
      assert.deepStrictEqual(yield* shown, ["published", null])
      yield* envelopes.withdraw(envelopeId, { reason: "Refunds stop." }, ann)
      const first = yield* lastOf("envelope.withdrawn")
      assert.deepStrictEqual(yield* shown, ["withdrawn", "Refunds stop."])
      yield* sound
      yield* again
      assert.deepStrictEqual(yield* shown, ["published", null])
      yield* envelopes.withdraw(envelopeId, { reason: "They stop again." }, ann)
      yield* erase(first, "reason")
      assert.deepStrictEqual(yield* shown, ["withdrawn", "They stop again."])
      yield* sound
      yield* erase(yield* lastOf("envelope.withdrawn"), "reason")
      assert.deepStrictEqual(yield* shown, ["withdrawn", null])
      yield* again
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is seen only in scope", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { envelopeId } = yield* governedAgent()
      const scope = { orgUnits: ["sales"] }
      assert.deepStrictEqual(yield* envelopes.list({}, scope), [])
      assert.strictEqual((yield* envelopes.list({})).length, 1)
      for (const act of [
        envelopes.get(envelopeId, scope),
        envelopes.publish(envelopeId, {}, ben, scope),
        envelopes.withdraw(envelopeId, {}, ben, scope),
        envelopes.lint(envelopeId, {}, scope),
        envelopes.versions(envelopeId, scope)
      ]) {
        assert.strictEqual(yield* tag(act as Effect.Effect<unknown, { readonly _tag: string }>), "EnvelopeNotFound")
      }
      assert.strictEqual(
        yield* tag(envelopes.update(envelopeId, { envelope: {}, if_revision: 1 }, ann)),
        "EnvelopeRevisionConflict"
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("that was erased permits nothing, and its draft is gone with it", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const { agentId, envelopeId } = yield* governedAgent()
      yield* envelopes.update(envelopeId, { envelope: tighter() }, ann)
      assert.strictEqual((yield* outcome(agentId, { tool: "search" }))[0], "allow")
      yield* erase(yield* lastOf("envelope.drafted"), "envelope")
      assert.deepStrictEqual((yield* envelopes.get(envelopeId)).draft?.envelope, {})
      yield* erase(yield* lastOf("envelope.published"), "envelope")
      assert.isNull((yield* envelopes.version(envelopeId, 1)).envelope)
      const refused = yield* Effect.flip(envelopes.diff(envelopeId, { from: 0, to: 1 }))
      assert.deepStrictEqual(
        refused._tag === "InvalidInput" ? refused.detail.map(({ loc, msg }) => [loc, msg]) : refused,
        [[["query", "to"], "Expected a version whose text is not erased; that of version 1 was erased"]]
      )
      assert.deepStrictEqual(yield* outcome(agentId, { tool: "search" }), ["deny", "@no_envelope"])
      assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
      assert.deepStrictEqual(
        (yield* recomputed).map(({ verdict }) => verdict),
        ["withheld", "ok"]
      )
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("a waiver", () => {
  it.effect("excepts for a time what two people let it, and nothing longer", () =>
    Effect.gen(function* () {
      const waivers = yield* Waivers
      const envelopes = yield* Envelopes
      const { agentId, envelopeId } = yield* governedAgent()
      const request = {
        rule_id: "large",
        unless: [{ signal: "amount", lte: 4_000 }],
        expires_at: "1970-01-02T00:00:00.000Z",
        reason: "The fair is on."
      }
      const requested = yield* waivers.request(envelopeId, request, ann)
      assert.deepInclude(requested, { status: "requested", requested_by: ann.id, granted_by: null, version: 1 })
      const large = outcome(agentId, { tool: "refund", amount: 3_000 })
      assert.deepStrictEqual(yield* large, ["require_review", "large"])
      assert.strictEqual(yield* tag(waivers.grant(envelopeId, requested.id, ann)), "SecondApproverRequired")
      assert.deepInclude(yield* waivers.grant(envelopeId, requested.id, ben), { status: "granted", granted_by: ben.id })
      assert.strictEqual(yield* tag(waivers.grant(envelopeId, requested.id, ben)), "WaiverNotOpen")
      // The exception leaves the default: nothing else lets a refund of 3,000 through.
      assert.deepStrictEqual(yield* large, ["deny", "@default"])
      yield* sound
      yield* TestClock.setTime(86_400_000)
      assert.deepStrictEqual(yield* large, ["require_review", "large"])
      assert.deepStrictEqual(
        (yield* waivers.list(envelopeId)).map(({ status }) => status),
        ["expired"]
      )
      const tomorrow = { ...request, expires_at: "1970-01-03T00:00:00.000Z" }
      for (const wrong of [
        { rule_id: "none" },
        { unless: [{ signal: "nothing", eq: 1 }] },
        { expires_at: "1970-01-01T00:00:00.000Z" },
        { expires_at: "1971-01-01T00:00:00.000Z" }
      ]) {
        assert.strictEqual(yield* tag(waivers.request(envelopeId, { ...tomorrow, ...wrong }, ann)), "InvalidInput")
      }
      const late = yield* waivers.request(envelopeId, tomorrow, ann)
      yield* envelopes.update(envelopeId, { envelope: tighter() }, ann)
      yield* envelopes.publish(envelopeId, {}, ann)
      assert.strictEqual(yield* tag(waivers.grant(envelopeId, late.id, ben)), "WaiverNotOpen")
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("that was erased excepts nothing", () =>
    Effect.gen(function* () {
      const waivers = yield* Waivers
      const { agentId, envelopeId } = yield* governedAgent()
      const { id } = yield* waivers.request(
        envelopeId,
        {
          rule_id: "large",
          unless: [{ signal: "amount", lte: 4_000 }],
          expires_at: "1970-01-02T00:00:00.000Z",
          reason: "Ada requested it."
        },
        ann
      )
      yield* waivers.grant(envelopeId, id, ben)
      assert.strictEqual((yield* outcome(agentId, { tool: "refund", amount: 3_000 }))[1], "@default")
      for (const kind of ["waiver.requested", "waiver.granted"]) yield* erase(yield* lastOf(kind), "waiver")
      assert.strictEqual((yield* outcome(agentId, { tool: "refund", amount: 3_000 }))[1], "large")
      assert.deepInclude((yield* waivers.list(envelopeId))[0], { unless: null, reason: null, status: "granted" })
      assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
    }).pipe(Effect.provide(governorWorld()))
  )
})
