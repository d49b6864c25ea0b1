/** Signals that are read from the arguments: in verdicts, reviews, standing approvals, backtests and replay. */
import { assert, describe, it } from "@effect/vitest"
import { utf8 } from "@flyball/evidence"
import { type PartContent, Recomputation, type ReplayRecord } from "@flyball/rules"
import { Effect } from "effect"
import { governorWorld } from "../../testing/governor-world.ts"
import { recorded } from "../../testing/recorded.ts"
import { Envelopes } from "../envelopes/service.ts"
import { Reviews } from "../reviews/service.ts"
import { StandingApprovals } from "../standing-approvals/service.ts"
import { Evaluations } from "./service.ts"
import { ann, ask, governedAgent, refunds } from "./testing/refunds.ts"

const cents = { type: "int", min: 0, max: 100_000, unit: "EUR/100", source: "args", from: "/order/cents" }
const tool = { type: "enum", values: ["search", "refund"], source: "caller" }
const reviewed = refunds({}, 1_000_000)["rules"] as ReadonlyArray<{ readonly id: string; readonly when: object[] }>

/** Refunds up to 2,000 alone and above with one person; the amount is that of the arguments. */
const envelope = refunds({
  signals: { tool, amount: cents },
  meters: {},
  effects: { search: "read", refund: "read" },
  rules: [
    ...reviewed.map(({ id, when }) => ({ id, when, outcome: id === "large" ? "require_review" : "allow" })),
    { id: "huge", outcome: "deny", when: [{ signal: "amount", gt: 50_000 }] }
  ].filter(({ id }) => id !== "cap")
})
const order = (amount: unknown, more: object = {}) => ({ args: { order: { cents: amount, id: "W1" }, ...more } })
const cyn = { writer: { id: `usr_${"0".repeat(25)}4` }, grants: "any", email: null } as const

const world = () => Effect.provide(governorWorld())
const refund = (agentId: string, more: object, signals: object = {}) =>
  ask(agentId, { tool: "refund", ...signals }, more)

const verdicts = (all: ReadonlyArray<ReplayRecord>) => {
  const again = new Recomputation({ fromGenesis: true })
  return all.flatMap((record) => again.take(record)?.verdict ?? [])
}

describe("signals of source args", () => {
  it.effect("decide by the arguments that were sent, which a caller cannot state beside them", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const verdict = (more: object, signals: object = {}) =>
        Effect.map(refund(agentId, more, signals), ({ matched_rule, reason }) => [matched_rule, reason])
      assert.deepStrictEqual(yield* verdict(order(2_000)), ["refund", null])
      assert.deepStrictEqual(yield* verdict(order(60_000)), ["huge", null])
      const expected = "`amount` should be an integer from 0 to 100000 (EUR/100); the arguments have"
      assert.deepStrictEqual(yield* verdict(order("2000")), [
        "@invalid_signal",
        `${expected} a string at \`/order/cents\`.`
      ])
      assert.deepStrictEqual(yield* verdict({ args: {} }), [
        "@missing_signal",
        `${expected} nothing at \`/order/cents\`.`
      ])
      assert.strictEqual((yield* verdict(order(1), { amount: 1 }))[0], "@invalid_signal")
      const redacted = { args_redacted: true, action_digest: `sha256:${"0a".repeat(32)}` }
      assert.strictEqual((yield* verdict({ ...order("[redacted]"), ...redacted }))[0], "@invalid_signal")
      assert.strictEqual((yield* verdict({ ...order(5), ...redacted }))[0], "refund")
      const refused = yield* Effect.flip(refund(agentId, {}))
      assert.strictEqual(refused._tag, "InvalidInput")
      assert.deepInclude(JSON.parse(JSON.stringify(refused)).detail[0], { loc: ["body", "args"], type: "missing" })
      const found = yield* Evaluations.use((evaluations) => evaluations.list({ agent_id: agentId }))
      assert.lengthOf(found, 7)
      const explained = yield* Evaluations.use((evaluations) => evaluations.explain(found[5]!.id))
      assert.strictEqual(explained.nearest?.sentence, "It would be allow if amount <= 2000.")
      const all = yield* recorded
      assert.deepStrictEqual(verdicts(all), Array(7).fill("ok"))

      const first = all.findIndex(({ kind }) => kind === "evaluation.made")
      const changed = (body: object, args?: PartContent | null) =>
        verdicts(
          all.map((record, at) => {
            const parts = new Map(record.parts)
            if (args === null) parts.delete("args")
            else if (args !== undefined) parts.set("args", args)
            return at === first ? { ...record, body: { ...record.body, ...body }, parts } : record
          })
        )[0]
      const args = (amount: number): PartContent => ({ state: "present", bytes: utf8(`{"order":{"cents":${amount}}}`) })
      assert.strictEqual(changed({}, { state: "withheld" } as PartContent), "withheld")
      assert.strictEqual(changed({}, { state: "erased" } as PartContent), "withheld")
      assert.strictEqual(changed({}, args(1_999)), "review_mismatch", "arguments of another digest")
      assert.strictEqual(
        changed({ args_redacted: true }, args(60_000)),
        "outcome_mismatch",
        "a digest that proves nothing"
      )
      assert.strictEqual(changed({}, null), "signal_invalid")
      assert.strictEqual(changed({ outcome: "deny", matched_rule: "huge" }), "outcome_mismatch")
    }).pipe(world())
  )

  it.effect("of a list decide by the most restrictive element, which is explained", () =>
    Effect.gen(function* () {
      const host = { type: "text", form: "domain@1", source: "args", from: "/to/*" }
      const { agentId } = yield* governedAgent({
        semantics: "envelope/1",
        signals: { tool, host },
        effects: { search: "read", refund: "read" },
        rules: [{ id: "own", outcome: "allow", when: [{ signal: "host", under: "example.com" }] }],
        default: { outcome: "deny" }
      })
      const sent = (...to: ReadonlyArray<string>) => refund(agentId, { args: { to } })
      assert.strictEqual((yield* sent("anna@example.com", "ben@mail.example.com")).outcome, "allow")
      const denied = yield* sent("anna@example.com", "ben@evil.example")
      assert.deepInclude(denied, { outcome: "deny", matched_rule: "@default" })
      const { sentence } = yield* Evaluations.use((evaluations) => evaluations.explain(denied.id))
      assert.match(sentence, /It would be allow if host .*example\.com.* That is of one element of the list/)
      assert.strictEqual((yield* sent()).matched_rule, "@missing_signal")
      assert.deepStrictEqual(verdicts(yield* recorded), ["ok", "ok", "ok"])
    }).pipe(world())
  )

  it.effect("refuse no action for a version on trial, which cannot read a digest", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent(refunds({ effects: { search: "read", refund: "read" } }))
      const envelopes = yield* Envelopes
      yield* envelopes.update(envelopeId, { envelope }, ann)
      yield* envelopes.publish(envelopeId, { mode: "shadow" }, ann)
      const trial = (more: object) =>
        Effect.map(refund(agentId, more, { amount: 100 }), ({ outcome, shadow }) => [outcome, shadow?.matched_rule])
      assert.deepStrictEqual(yield* trial({}), ["allow", "@invalid_signal"])
      assert.deepStrictEqual(verdicts(yield* recorded), ["ok"])
    }).pipe(world())
  )

  it.effect("are what an approval and a standing approval are of", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(envelope)
      const redacted = { args_redacted: true, action_digest: `sha256:${"0a".repeat(32)}` }
      const approved = Effect.fnUntraced(function* (more: object) {
        const { review_id } = yield* refund(agentId, more)
        yield* Reviews.use((reviews) => reviews.resolve(review_id!, { resolution: "approve", reason: "seen" }, cyn))
        return review_id!
      })
      // The digest is that of the whole arguments, and nobody can compare it with what is shown.
      const hidden = yield* approved({ ...order(3_000), ...redacted })
      const presented = (amount: number, approval_id: string) =>
        Effect.map(refund(agentId, { ...order(amount), ...redacted, approval_id }), ({ outcome }) => outcome)
      assert.strictEqual(yield* presented(40_000, hidden), "require_review")
      assert.strictEqual(yield* presented(3_000, hidden), "allow")

      const review_id = yield* approved(order(3_000))
      const propose = (pin: object) =>
        StandingApprovals.use((approvals) =>
          approvals.propose(
            { review_id, pins: [pin as never], count: 2, expires_at: "1970-01-02T00:00:00.000Z", reason: "One order" },
            cyn.writer
          )
        )
      assert.strictEqual((yield* Effect.flip(propose({ path: "/args/order/cents", eq: "x" })))._tag, "InvalidInput")
      const standing = yield* propose({ path: "/args/order/cents", at_most: 4_000 })
      yield* StandingApprovals.use((approvals) => approvals.grant(standing.id, { id: `usr_${"0".repeat(25)}5` }))
      const outcome = (amount: number) => Effect.map(refund(agentId, order(amount)), ({ outcome }) => outcome)
      assert.deepStrictEqual([yield* outcome(3_900), yield* outcome(4_100)], ["allow", "require_review"])
      assert.notInclude(verdicts(yield* recorded).join(), "mismatch")
    }).pipe(world())
  )

  it.effect("replay recorded actions under a draft that reads arguments for the first time", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent(refunds())
      yield* refund(agentId, order(1_500), { amount: 1_500 })
      yield* refund(agentId, order(60_000), { amount: 100 })
      yield* refund(agentId, {}, { amount: 100 })
      const envelopes = yield* Envelopes
      yield* envelopes.update(envelopeId, { envelope }, ann)
      const report = yield* envelopes.backtest(envelopeId, {})
      assert.deepInclude(report.classes, { unchanged: 1, newly_denied: 1 })
      assert.deepStrictEqual(report.not_replayable, { withheld: 1 })
    }).pipe(world())
  )
})
