/** Standing approvals as people propose them and evaluations use them up. */
import type { InvalidInput, StandingApprovalCreate } from "@flyball/contract"
import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes, portableCrypto, toHex } from "@flyball/evidence"
import { type JsonMap, Recomputation, type ReplayRecord, RULES } from "@flyball/rules"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { unitScope } from "../../foundation/scope.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { recorded } from "../../testing/recorded.ts"
import { Envelopes } from "../envelopes/service.ts"
import {
  ann,
  ask,
  ben,
  governedAgent,
  key,
  recomputed,
  recomputedWith,
  refunds
} from "../evaluations/testing/refunds.ts"
import { Kill } from "../kill/service.ts"
import { type ReviewingPerson, Reviews } from "../reviews/service.ts"
import { StandingApprovals } from "./service.ts"

const cyn: ReviewingPerson = { writer: { id: `usr_${"0".repeat(25)}4` }, grants: "any", email: null }
const dan = { id: `usr_${"0".repeat(25)}5` }
const large = { tool: "refund", amount: 5_000 }
const HOUR_MS = 3_600_000

/** Reviews 2,000 to 20,000 by one person, more by two. */
const envelope = refunds(
  {
    rules: [
      ...(
        refunds({}, 1_000_000)["rules"] as ReadonlyArray<{ readonly id: string; readonly when: ReadonlyArray<object> }>
      ).map((rule) =>
        rule.id === "large" ? { ...rule, when: [...rule.when, { signal: "amount", lte: 20_000 }] } : rule
      ),
      {
        id: "huge",
        outcome: "require_review",
        when: [
          { signal: "tool", in: ["refund"] },
          { signal: "amount", gt: 20_000 }
        ],
        obligations: [{ type: "reviewers", role: "governor", approvals: 2, ttl_ms: HOUR_MS }]
      }
    ]
  },
  1_000_000
)

const riskClass = { type: "enum", values: ["unclassified", "limited", "high"], source: "server" }

const world = () => Effect.provide(governorWorld())
const standings = StandingApprovals.use(Effect.succeed)
/** An agent, and a review of `large` that was approved. */
const reviewed = Effect.gen(function* () {
  const { agentId, envelopeId } = yield* governedAgent(envelope)
  const made = yield* refund(agentId, 5_000)
  const reviews = yield* Reviews
  yield* reviews.resolve(made.review_id!, { resolution: "approve", reason: "seen" }, cyn)
  return { agentId, envelopeId, reviewId: made.review_id!, seq: made.seq }
})
const proposal = (review_id: string, more: Partial<StandingApprovalCreate> = {}): StandingApprovalCreate => ({
  review_id,
  pins: [{ path: "/signals/amount", at_most: 8_000 }],
  count: 2,
  expires_at: "1970-01-02T00:00:00.000Z",
  reason: "Refunds of one customer",
  ...more
})
const propose = (review_id: string, more: Partial<StandingApprovalCreate> = {}, writer = cyn.writer) =>
  Effect.flatMap(standings, (approvals) => approvals.propose(proposal(review_id, more), writer))
const granted = (review_id: string, more: Partial<StandingApprovalCreate> = {}) =>
  Effect.gen(function* () {
    const { id } = yield* propose(review_id, more)
    return yield* (yield* standings).grant(id, dan)
  })
const refund = (agentId: string, amount: number, more = {}) =>
  ask(agentId, { tool: "refund", amount }, { action: "refund", args: { tool: "refund", amount }, ...more })
const refused = <A, E extends { readonly _tag: string }, R>(act: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(act), ({ _tag }) => _tag)

/** Everything that replay says against the store: nothing, or the test fails with it. */
const agrees = Effect.gen(function* () {
  assert.deepStrictEqual((yield* (yield* Replay).check).differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})

describe("a standing approval", () => {
  it.effect("lets evaluations of its box through until it is used up, each in the commit of its use", () =>
    Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      const { id } = yield* propose(reviewId)
      assert.deepInclude(yield* refund(agentId, 5_000), { outcome: "require_review", standing_approval_id: null })
      const approvals = yield* standings
      assert.deepInclude(yield* approvals.grant(id, dan), { status: "granted", left: 2, granted_by: dan.id })
      const first = yield* refund(agentId, 8_000)
      assert.deepInclude(first, {
        outcome: "allow",
        matched_rule: "large",
        standing_approval_id: id,
        review_id: null
      })
      const storage = yield* Storage
      const [, use] = yield* storage.records({ from: first.seq, limit: 2 })
      assert.strictEqual(use!.kind, "standing_approval.used")
      assert.deepInclude(yield* refund(agentId, 8_001), { outcome: "require_review", standing_approval_id: null })
      assert.deepInclude(yield* refund(agentId, 1_000), { outcome: "allow_with_notice", standing_approval_id: null })
      assert.deepInclude(yield* refund(agentId, 2_001), { outcome: "allow", standing_approval_id: id })
      assert.deepInclude(yield* approvals.get(id), { left: 0, status: "used_up", count: 2 })
      assert.deepInclude(yield* refund(agentId, 5_000), { outcome: "require_review", standing_approval_id: null })
      yield* agrees
    }).pipe(world())
  )

  it.effect("covers the same action with the same arguments alone", () =>
    Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      yield* granted(reviewId, {
        count: 10,
        pins: [
          { path: "/args/tool", one_of: ["refund", "other"] },
          { path: "/signals/amount", at_most: 20_000 }
        ]
      })
      const outcome = (more: object) => Effect.map(refund(agentId, 5_000, more), (made) => made.outcome)
      assert.strictEqual(yield* outcome({}), "allow")
      assert.strictEqual(yield* outcome({ args: { tool: "refund", amount: 1 } }), "allow")
      assert.strictEqual(yield* outcome({ action: "pay" }), "require_review")
      assert.strictEqual(yield* outcome({ args: { tool: "third", amount: 5_000 } }), "require_review")
      assert.strictEqual(yield* outcome({ args: { ...large, note: "more" } }), "require_review")
      const action_digest = `sha256:${"0".repeat(64)}`
      assert.strictEqual(yield* outcome({ args: undefined, action_digest }), "require_review")
      assert.strictEqual(yield* outcome({ args: { ...large }, args_redacted: true, action_digest }), "require_review")
      yield* agrees
    }).pipe(world())
  )

  it.effect("covers the texts that it names, and no other of their cell or normal form", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent({
        semantics: "envelope/1",
        signals: {
          tool: { type: "enum", values: ["write"], source: "caller" },
          file: { type: "text", form: "path@1", source: "args", from: "/path" }
        },
        effects: { write: "write_reversible" },
        rules: [
          {
            id: "below",
            outcome: "require_review",
            when: [{ signal: "file", under: "/srv" }],
            obligations: [{ type: "reviewers", role: "reviewer", approvals: 1, ttl_ms: HOUR_MS }]
          }
        ],
        default: { outcome: "deny" }
      })
      const write = (path: string) => ask(agentId, { tool: "write" }, { action: "write", args: { path } })
      const made = yield* write("/srv/a")
      yield* (yield* Reviews).resolve(made.review_id!, { resolution: "approve", reason: "seen" }, cyn)
      yield* granted(made.review_id!, { count: 10, pins: [{ path: "/args/path", one_of: ["/srv/a", "/srv/b"] }] })
      for (const [path, outcome] of [
        ["/srv/b", "allow"],
        ["/srv/c", "require_review"],
        ["/srv/./a", "require_review"],
        ["/srv/../etc", "deny"],
        ["/srv/a", "allow"]
      ] as const)
        assert.strictEqual((yield* write(path)).outcome, outcome, path)
      yield* agrees
    }).pipe(world())
  )

  it.effect("never loosens a denial or a halt", () =>
    Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      yield* granted(reviewId, {
        count: 10,
        pins: [
          { path: "/signals/tool", eq: "refund" },
          { path: "/signals/amount", at_most: 20_000 }
        ]
      })
      assert.strictEqual((yield* refund(agentId, 20_000)).outcome, "allow")
      const { activation_event } = yield* Kill.use((kill) =>
        kill.activate({ target_type: "agent", target_id: agentId, response: "halt", reason: "Pays twice." }, ann)
      )
      assert.deepInclude(yield* refund(agentId, 5_000), { outcome: "deny", standing_approval_id: null })
      yield* Kill.use((kill) => kill.release({ activation_event: activation_event!, reason: "Fixed." }, ben))
      for (let n = 0; n < 3; n++) yield* refund(agentId, 20_000)
      assert.deepInclude(yield* ask(agentId, { tool: "refund", amount: "much" }, { action: "refund" }), {
        outcome: "deny",
        standing_approval_id: null
      })
      yield* agrees
    }).pipe(world())
  )

  it.effect("is refused where another rule asks in its box, with the input", () =>
    Effect.gen(function* () {
      const { reviewId } = yield* reviewed
      const wide = yield* Effect.flip(propose(reviewId, { pins: [{ path: "/signals/amount", at_most: 20_001 }] }))
      assert.deepInclude(wide, { _tag: "StandingApprovalTooWide", rule: "huge" })
      assert.deepInclude((wide as { readonly example: object }).example, { tool: "refund", amount: 20_001 })
      const free = yield* Effect.flip(propose(reviewId, { pins: [{ path: "/args/tool", eq: "refund" }] }))
      assert.deepInclude(free, { _tag: "StandingApprovalTooWide", rule: "huge" })
      const late = { pins: [{ path: "/signals/amount", at_most: 4_999 }], expires_at: "1971-01-01T00:00:00.000Z" }
      const outside = yield* Effect.flip(propose(reviewId, late))
      assert.deepStrictEqual(
        (outside as InvalidInput).detail.map(({ loc }) => loc[1]),
        ["pins", "expires_at"]
      )
      assert.strictEqual(yield* refused(propose(reviewId, { expires_at: "1971-01-01T00:00:00.000Z" })), "InvalidInput")
      assert.strictEqual(yield* refused(propose(reviewId, {}, dan)), "NotTheApprover")
      assert.strictEqual(yield* refused(propose(`rev_${"0".repeat(26)}`)), "ReviewNotFound")
    }).pipe(world())
  )

  it.effect("is granted by another person, once, and revoked at once", () =>
    Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      const approvals = yield* standings
      const { id } = yield* propose(reviewId)
      assert.strictEqual(yield* refused(approvals.grant(id, cyn.writer)), "SecondApproverRequired")
      for (const excluded of [ann, key])
        assert.strictEqual(yield* refused(approvals.grant(id, excluded)), "ReviewerNotEligible", excluded.id)
      yield* approvals.grant(id, dan)
      assert.strictEqual(yield* refused(approvals.grant(id, dan)), "StandingApprovalNotOpen")
      const forged = yield* recomputedWith(({ body, kind, ...record }) => ({
        ...record,
        kind,
        body: kind === "standing_approval.granted" ? { ...body, writer: ann.id } : body
      }))
      assert.deepStrictEqual(
        forged.flatMap(({ verdict }) => (verdict === "ok" ? [] : [verdict])),
        ["self_approved"]
      )
      assert.deepInclude(yield* approvals.revoke(id, { reason: "Enough." }, ann), {
        status: "revoked",
        revoked_by: ann.id
      })
      assert.strictEqual(yield* refused(approvals.revoke(id, {}, dan)), "StandingApprovalNotOpen")
      assert.strictEqual((yield* refund(agentId, 5_000)).outcome, "require_review")
      assert.strictEqual(yield* refused(approvals.get(id, unitScope("elsewhere"))), "StandingApprovalNotFound")
      assert.lengthOf(yield* approvals.list({ agent_id: agentId, status: "revoked" }), 1)
      assert.lengthOf(yield* approvals.list({ status: "granted" }), 0)
      assert.lengthOf(yield* approvals.list({}, unitScope("elsewhere")), 0)
      yield* agrees
    }).pipe(world())
  )

  it.effect("ends with its time, and with the version that it was made under", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId, reviewId } = yield* reviewed
      const { id } = yield* granted(reviewId, { count: 9 })
      assert.strictEqual((yield* refund(agentId, 5_000)).outcome, "allow")
      const envelopes = yield* Envelopes
      yield* envelopes.update(
        envelopeId,
        {
          envelope: {
            ...envelope,
            meters: {},
            rules: (envelope["rules"] as ReadonlyArray<{ readonly id: string }>).filter((rule) => rule.id !== "cap")
          }
        },
        ann
      )
      yield* envelopes.publish(envelopeId, {}, ben)
      assert.strictEqual((yield* refund(agentId, 5_000)).outcome, "require_review")
      assert.strictEqual(yield* refused(propose(reviewId)), "EnvelopeNotInForce")
      yield* TestClock.setTime(24 * HOUR_MS)
      assert.deepInclude(yield* (yield* standings).get(id), { status: "expired", left: 8 })
      yield* agrees
    }).pipe(world())
  )

  it.effect("approves nothing once its box was erased", () =>
    Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      const { id } = yield* granted(reviewId)
      const records = yield* (yield* Storage).records({ limit: 1_000, kinds: ["standing_approval.proposed"] })
      const erasure = yield* Erasure
      for (const name of ["box", "reason"])
        yield* erasure.erase({ seq: records[0]!.seq, name, reason: "subject_request" }, ann)
      assert.deepInclude(yield* (yield* standings).get(id), { pins: null, action: null, args: null, reason: null })
      assert.strictEqual((yield* refund(agentId, 5_000)).outcome, "require_review")
      assert.deepStrictEqual((yield* (yield* Replay).check).differences, [])
    }).pipe(world())
  )

  it.effect("that was not in force, or did not cover an evaluation, is found by replay", () =>
    Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      const { id } = yield* granted(reviewId, { count: 2 })
      yield* refund(agentId, 5_000)
      yield* refund(agentId, 6_000)
      const records = yield* recorded
      const wrong = (change: (record: ReplayRecord) => ReplayRecord | null) => {
        const again = new Recomputation({ fromGenesis: true })
        return records.flatMap((record) => {
          const changed = change(record)
          const found = changed === null ? null : again.take(changed)
          return found === null || found.verdict === "ok" ? [] : [found.verdict]
        })
      }
      const body = (kind: string, more: JsonMap) => (record: ReplayRecord) =>
        record.kind === kind ? { ...record, body: { ...record.body, ...more } } : record
      const box = (value: object) => (record: ReplayRecord) =>
        record.kind === "standing_approval.proposed"
          ? {
              ...record,
              body: { ...record.body, box_digest: toHex(portableCrypto.sha256(canonicalBytes(value))) },
              parts: new Map(record.parts).set("box", { state: "present", bytes: canonicalBytes(value) } as const)
            }
          : record
      const without = (kind: string) => (record: ReplayRecord) => (record.kind === kind ? null : record)
      const shape = { action: "refund", args: ["amount", "tool"] }
      const MISMATCH = "standing_approval_mismatch"
      assert.deepStrictEqual(
        wrong((record) => record),
        []
      )
      // Both evaluations, and the use of each.
      assert.deepStrictEqual(wrong(without("standing_approval.granted")), [MISMATCH, MISMATCH])
      assert.deepStrictEqual(wrong(body("standing_approval.granted", { writer: cyn.writer.id })), [MISMATCH])
      assert.deepStrictEqual(wrong(body("standing_approval.proposed", { count: 1 })), [MISMATCH])
      assert.deepStrictEqual(wrong(body("standing_approval.proposed", { expires_at: "1970-01-01T00:00:00.000Z" })), [
        MISMATCH,
        MISMATCH
      ])
      assert.deepStrictEqual(wrong(body("standing_approval.proposed", { asks: [0] })), [MISMATCH, MISMATCH, MISMATCH])
      assert.deepStrictEqual(wrong(body("standing_approval.used", { left: 1 })), [MISMATCH])
      assert.deepStrictEqual(wrong(without("standing_approval.used")), [MISMATCH])
      const narrow = [{ path: "/signals/amount", at_most: 5_999 }]
      assert.deepStrictEqual(wrong(box({ ...shape, pins: narrow })), [MISMATCH])
      assert.deepStrictEqual(wrong(box({ ...shape, args: ["tool"], pins: narrow })), [MISMATCH, MISMATCH, MISMATCH])
      assert.deepStrictEqual(wrong(body("standing_approval.proposed", { writer: ben.id })), [MISMATCH, MISMATCH])
      assert.deepStrictEqual(wrong(body("standing_approval.proposed", { evaluation_id: `evl_${"0".repeat(26)}` })), [
        MISMATCH
      ])
      // Without its box nobody can say.
      assert.deepStrictEqual(
        wrong((record) =>
          record.kind === "standing_approval.proposed"
            ? { ...record, parts: new Map(record.parts).set("box", { state: "withheld" } as const) }
            : record
        ),
        ["withheld", "withheld", "withheld"]
      )
      // An evaluation that names none was not approved.
      assert.deepStrictEqual(
        wrong((record) => {
          const { standing_approval_id: named, ...rest } = record.body
          return record.kind === "evaluation.made" && named === id ? { ...record, body: rest } : record
        }),
        ["outcome_mismatch", MISMATCH, "outcome_mismatch", MISMATCH]
      )
    }).pipe(world())
  )

  it.effect("whose box is wider than its review is found by replay, and nothing is said of what is not shown", () =>
    Effect.gen(function* () {
      const { reviewId, seq } = yield* reviewed
      yield* granted(reviewId)
      const records = yield* recorded
      const found = (...changes: ReadonlyArray<(record: ReplayRecord) => ReplayRecord>) => {
        const again = new Recomputation({ fromGenesis: true })
        return records.flatMap((record) => {
          const one = again.take(changes.reduce((changed, change) => change(changed), record))
          return one === null || one.verdict === "ok" ? [] : [`${one.verdict}: ${one.reason}`]
        })
      }
      const proposed = (change: (record: ReplayRecord) => ReplayRecord) => (record: ReplayRecord) =>
        record.kind === "standing_approval.proposed" ? change(record) : record
      const pinned = (...pins: ReadonlyArray<object>) => {
        const bytes = canonicalBytes({ action: "refund", args: ["amount", "tool"], pins } as JsonMap)
        return proposed((record) => ({
          ...record,
          body: { ...record.body, box_digest: toHex(portableCrypto.sha256(bytes)) },
          parts: new Map(record.parts).set("box", { state: "present", bytes } as const)
        }))
      }
      const byRules = (rules: number) => proposed((record) => ({ ...record, body: { ...record.body, rules } }))
      const wide = pinned({ path: "/signals/amount", at_most: 20_001 })
      assert.deepStrictEqual(found(pinned({ path: "/signals/amount", at_most: 20_000 })), [])
      assert.match(found(wide).join(), /^standing_approval_too_wide: The box of sap_\w+ holds inputs for which huge /)
      const [free] = found(pinned())
      assert.match(String(free), /^standing_approval_too_wide: .* huge requires a review/)
      const [outside] = found(pinned({ path: "/signals/amount", at_most: 4_999 }))
      assert.match(String(outside), /^standing_approval_mismatch: The reviewed action is outside the box/)
      assert.match(found(byRules(RULES - 1)).join(), /^rules_mismatch: /)
      assert.match(found(byRules(RULES + 1)).join(), new RegExp(`^withheld: The record was made by rules ${RULES + 1}`))
      for (const name of ["action", "args", "signals"])
        for (const state of ["withheld", "erased"] as const) {
          const without = (record: ReplayRecord): ReplayRecord =>
            record.seq === seq ? { ...record, parts: new Map(record.parts).set(name, { state }) } : record
          assert.match(
            found(without, wide)
              .filter((one) => one.includes("box"))
              .join(),
            /^withheld: It is not proved that the box of sap_\w+ is no wider than its review: the reviewed action/
          )
        }
    }).pipe(world())
  )

  it.effect("is proposed on the agent that its box was proved for", () => {
    let change: Effect.Effect<unknown, unknown> = Effect.void
    let attempts = 0
    const wrap = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (set) =>
        set.records?.[0]?.kind !== "standing_approval.proposed"
          ? storage.commit(set)
          : Effect.andThen(
              Effect.suspend(() => (attempts++ === 0 ? Effect.orDie(change) : Effect.void)),
              storage.commit(set)
            )
    })
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent({
        ...envelope,
        signals: { ...(envelope["signals"] as object), risk_class: riskClass },
        rules: [
          ...(envelope["rules"] as ReadonlyArray<object>),
          { id: "risky", outcome: "require_review", when: [{ signal: "risk_class", in: ["high"] }] }
        ]
      })
      const { review_id: reviewId } = yield* refund(agentId, 5_000)
      yield* Reviews.use((reviews) => reviews.resolve(reviewId!, { resolution: "approve", reason: "seen" }, cyn))
      const context = yield* Effect.context<Agents>()
      change = Effect.provide(
        Agents.use((agents) => agents.update(agentId, { risk_class: "high" }, ben)),
        context
      )
      const refusal = yield* Effect.flip(propose(reviewId!))
      assert.deepInclude(refusal, { _tag: "StandingApprovalTooWide", rule: "risky" })
      assert.strictEqual(attempts, 1)
      yield* agrees
    }).pipe(Effect.provide(governorWorld(wrap)))
  })

  it.effect("lets nothing through whose commit is reached only at its end", () => {
    let hangsMs = 0
    const wrap = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (set) =>
        Effect.suspend(() => {
          const ms = set.records?.some(({ kind }) => kind === "standing_approval.used") === true ? hangsMs : 0
          hangsMs -= ms
          return Effect.andThen(TestClock.adjust(ms), storage.commit(set))
        })
    })
    return Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      yield* granted(reviewId, { expires_at: "1970-01-01T01:00:00.000Z" })
      yield* TestClock.setTime(HOUR_MS - 1_000)
      hangsMs = 499
      assert.strictEqual((yield* refund(agentId, 5_000)).outcome, "allow")
      hangsMs = 501
      assert.strictEqual((yield* refund(agentId, 5_000)).outcome, "require_review")
      yield* agrees
    }).pipe(Effect.provide(governorWorld(wrap)))
  })

  it.effect("is not proposed from a review whose arguments were erased", () =>
    Effect.gen(function* () {
      const { reviewId, seq } = yield* reviewed
      yield* Erasure.use((erasure) => erasure.erase({ seq, name: "args", reason: "subject_request" }, ann))
      assert.strictEqual(yield* refused(propose(reviewId)), "ReviewNotApproved")
    }).pipe(world())
  )

  it.effect("is used once by evaluations at the same time where one is left", () =>
    Effect.gen(function* () {
      const { agentId, reviewId } = yield* reviewed
      const { id } = yield* granted(reviewId, { count: 3 })
      const made = yield* Effect.all(
        Array.from({ length: 8 }, () => refund(agentId, 5_000)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        made.filter(({ outcome }) => outcome === "allow"),
        3
      )
      assert.deepInclude(yield* (yield* standings).get(id), { left: 0 })
      yield* agrees
    }).pipe(world())
  )
})
