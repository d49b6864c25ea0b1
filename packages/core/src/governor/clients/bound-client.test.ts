import { Deferred, Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import type { EnvelopeSource } from "@flyball/envelope"
import { refunds as refundsJson } from "../../verdicts/evaluations/testing/refunds.ts"
import { ephemeralKeys } from "../../chain/keys/ephemeral-keys.ts"
import { keysChoice, keysLayerOf } from "../../chain/keys/keys.ts"
import { answer } from "../../verdicts/envelopes/examination/answer.ts"
import { Examiner } from "../../verdicts/envelopes/examination/examiner.ts"
import { inPlaceLimits } from "../../verdicts/envelopes/examination/questions.ts"
import { type Governor, openGovernor } from "../governor.ts"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { GovernorError } from "../../foundation/governor-error.ts"

const refunds = (...more: Parameters<typeof refundsJson>) => refundsJson(...more) as unknown as EnvelopeSource

const ann = { writer: "system:ann" }
const ben = { writer: "system:ben" }

let governor: Governor
let agentId: string
let envelopeId: string
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage() })
  const { agent } = await governor.agents.register({
    name: "refund bot",
    org_unit: "support",
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  agentId = agent.id
  envelopeId = (await governor.envelopes.create({ name: "Refunds", agent_id: agentId, envelope: refunds() }, ann)).id
})
afterEach(() => governor.close())

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error: unknown) => (error instanceof GovernorError ? error.code : String(error))
  )
let refs = 0
const evaluate = (signals: { readonly [name: string]: unknown }) =>
  governor.evaluate({ agent_id: agentId, client_ref: `r${refs++}`, signals, args: signals })
/** Puts the envelope in force, and its agent to work under it. */
const publish = async () => {
  await governor.envelopes.publish(envelopeId, {}, ben)
  await governor.agents.update(agentId, { autonomy_tier: "L2" })
  await governor.agents.activate(agentId)
}

describe("envelopes through the plain client", () => {
  it("are linted, published by a second person, compared, listed and withdrawn", async () => {
    const { envelopes } = governor
    const lint = await envelopes.lint(envelopeId)
    assert.deepInclude(lint, { publishable: true, complete: true })
    assert.isFalse(
      (
        await envelopes.lint(envelopeId, {
          envelope: { semantics: "envelope/1" } as never,
          acknowledge_partial: ["W202"]
        })
      ).publishable
    )
    assert.deepInclude(await envelopes.diff(envelopeId), { from: 0, to: 0, change: "loosens" })
    assert.strictEqual(await codeOf(envelopes.publish(envelopeId, {}, ann)), "second_approver_required")
    assert.strictEqual(
      await codeOf(envelopes.publish(envelopeId, { if_revision: 7 }, ben)),
      "envelope_revision_conflict"
    )
    const version = await envelopes.publish(
      envelopeId,
      { if_revision: 1, mode: "enforced", acknowledge_partial: null },
      ben
    )
    assert.deepInclude(version, { version: 1, authors: ["system:ann"], published_by: "system:ben" })
    assert.deepStrictEqual(
      [await envelopes.versions(envelopeId), await envelopes.version({ envelope_id: envelopeId, version: 1 })],
      [[{ ...version, warnings: null }], { ...version, warnings: null }]
    )
    assert.strictEqual(
      await codeOf(envelopes.version({ envelope_id: envelopeId, version: 2 })),
      "envelope_version_not_found"
    )
    assert.strictEqual(
      (await envelopes.update(envelopeId, { envelope: refunds({ name: "again" }) }, ann)).draft?.version,
      2
    )
    const { agent: other } = await governor.agents.register({ name: "other", org_unit: "ops" })
    const second = await envelopes.create({ name: "Other", agent_id: other.id, envelope: refunds() })
    const ids = async (filter?: Parameters<typeof envelopes.list>[0]) =>
      (await envelopes.list(filter)).map(({ id }) => id)
    assert.deepStrictEqual(
      [await ids(), await ids({ limit: 1 }), await ids({ after: envelopeId }), await ids({ agent_id: other.id })],
      [[envelopeId, second.id], [envelopeId], [second.id], [second.id]]
    )
    assert.strictEqual((await envelopes.withdraw(envelopeId, { reason: "over" }, ann)).status, "withdrawn")
    assert.strictEqual((await envelopes.get(envelopeId)).live_version, null)
    assert.isTrue((await governor.check()).ok)
  })

  it("are examined 8 at a time for each writer, published meanwhile, and no more after a signal", async () => {
    const gate = Deferred.makeUnsafe<void>()
    const calls: Array<string> = []
    const examiner = Layer.succeed(Examiner, {
      ask: (kind, about) =>
        Effect.suspend(() => {
          calls.push(kind)
          const answered = Effect.sync(() => answer({ kind, about }, inPlaceLimits))
          return kind === "publish" ? answered : Effect.andThen(Deferred.await(gate), answered)
        })
    })
    // As dataFolder brings its threads.
    const keys = keysChoice("ephemeral", Layer.merge(examiner, keysLayerOf(ephemeralKeys())))
    await using slow = await openGovernor({ storage: memoryStorage(), keys })
    const { agent } = await slow.agents.register({ name: "refund bot", org_unit: "support" })
    const { id } = await slow.envelopes.create({ name: "Refunds", agent_id: agent.id, envelope: refunds() }, ann)
    const lint = (options: object = ann) => codeOf(slow.envelopes.lint(id, {}, options))

    const away = new AbortController()
    const lints = Array.from({ length: 8 }, () => lint({ ...ann, signal: away.signal }))
    assert.strictEqual(await lint(), "examination_queue_full")
    assert.strictEqual(await codeOf(slow.envelopes.backtest(id, {}, ann)), "examination_queue_full")
    assert.strictEqual(await codeOf(slow.envelopes.publish(id, {}, ben)), "none")
    assert.deepStrictEqual(calls, ["lint", "publish"])
    const diff = codeOf(slow.envelopes.diff(id, { from: 0, to: 1 }, ben))
    away.abort()
    assert.deepStrictEqual(
      await Promise.all(lints),
      lints.map(() => "aborted")
    )
    await Effect.runPromise(Deferred.succeed(gate, undefined))
    assert.strictEqual(await diff, "none")
    assert.deepStrictEqual(calls, ["lint", "publish", "diff"])
    assert.strictEqual(await lint({ writer: "Ann" }), "invalid_writer")
  })

  it("are tested on what was recorded", async () => {
    await publish()
    const [first, second] = [
      await evaluate({ tool: "refund", amount: 10 }),
      await evaluate({ tool: "refund", amount: 3_000 })
    ]
    await governor.envelopes.update(envelopeId, { envelope: refunds({ rules: [] }) }, ann)
    const backtest = await governor.envelopes.backtest(envelopeId)
    assert.deepInclude(backtest, { meters: "recorded", total: 2, from_seq: first.seq, to_seq: second.seq })
    assert.deepInclude(
      await governor.envelopes.backtest(envelopeId, { meters: "counterfactual", from_seq: second.seq, to_seq: null }),
      { meters: "counterfactual", total: 1 }
    )
    for (const over of [{ from_seq: -1 }, { from_seq: second.seq, to_seq: first.seq }, { from_seq: 1_000_000 }])
      assert.strictEqual(await codeOf(governor.envelopes.backtest(envelopeId, over)), "invalid_input")
  })
})

describe("waivers through the plain client", () => {
  it("are requested by one person and granted by another, and hold from then on", async () => {
    await publish()
    const waiver = {
      rule_id: "large",
      unless: [{ signal: "amount", lte: 3_000 }],
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      reason: "A fair"
    }
    const requested = await governor.waivers.request(envelopeId, waiver, ann)
    assert.deepInclude(requested, {
      status: "requested",
      requested_by: "system:ann",
      granted_by: null,
      reason: "A fair"
    })
    assert.strictEqual(
      await codeOf(governor.waivers.grant({ envelope_id: envelopeId, waiver_id: requested.id }, ann)),
      "second_approver_required"
    )
    const before = (await evaluate({ tool: "refund", amount: 2_500 })).matched_rule
    const granted = await governor.waivers.grant({ envelope_id: envelopeId, waiver_id: requested.id }, ben)
    assert.deepInclude(granted, { status: "granted", granted_by: "system:ben" })
    assert.deepStrictEqual(await governor.waivers.list(envelopeId), [granted])
    assert.deepStrictEqual(
      [before, (await evaluate({ tool: "refund", amount: 2_500 })).matched_rule],
      ["large", "@default"]
    )
    assert.strictEqual(
      await codeOf(governor.waivers.request(envelopeId, { ...waiver, rule_id: "none" }, ann)),
      "invalid_input"
    )
    assert.strictEqual(
      await codeOf(governor.waivers.grant({ envelope_id: envelopeId, waiver_id: "wvr_x" }, { writer: "Ben" })),
      "invalid_writer"
    )
  })
})

describe("evaluations through the plain client", () => {
  it("are made, read, explained, and voided once", async () => {
    await publish()
    const made = await evaluate({ tool: "refund", amount: 1_500 })
    assert.deepInclude(made, { outcome: "allow_with_notice", matched_rule: "@tier_floor" })
    assert.deepStrictEqual(await governor.evaluation(made.id), made)
    assert.deepStrictEqual(await governor.evaluations({ agent_id: agentId, rule: "@tier_floor", limit: 1 }), [made])
    assert.deepStrictEqual(await governor.evaluations({ agent_id: agentId, before: made.seq }), [])
    assert.strictEqual(await codeOf(governor.evaluations({ agent_id: "courier" })), "invalid_input")
    assert.strictEqual((await governor.explain(made.id)).matched_rule, "@tier_floor")
    const spent = async () => (await evaluate({ tool: "refund", amount: 0 })).meters[0]!.value
    const before = await spent()
    const voided = await governor.voidEvaluation(made.id, { reason: "The order was cancelled" }, ben)
    assert.deepInclude(voided, { evaluation_id: made.id, duplicate: false })
    assert.deepStrictEqual([before, await spent()], [1_500, 0])
    assert.deepInclude(await governor.voidEvaluation(made.id, {}, ben), { seq: voided.seq, duplicate: true })
    assert.strictEqual(await codeOf(governor.voidEvaluation("evl_x")), "evaluation_not_found")
    assert.strictEqual(
      await codeOf(governor.evaluate({ agent_id: agentId, client_ref: "", signals: {} })),
      "invalid_input"
    )
    assert.isTrue((await governor.check()).ok)
  })
})
