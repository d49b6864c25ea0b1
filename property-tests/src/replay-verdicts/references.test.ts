/**
 * Chains in which who holds the key sealed a record with one wrong member: another decision, evaluation, agent, review,
 * writer or number.
 * Hashes, root and signatures are right, and replay names the record.
 */
import { Agents, Capture, Envelopes, Evaluations, IngestKeys, Principals } from "@flyball/core"
import type { JsonObject } from "@flyball/evidence"
import type { OpenPack } from "@flyball/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { beforeAll, describe, expect, it } from "vitest"
import {
  activeAgent,
  ann,
  ask,
  ben,
  exported,
  host,
  inBoundedWorld,
  publish,
  refunds,
  republish
} from "./bounded-world.ts"
import { lived, resealed, withBody } from "./changed-pack.ts"
import { replayed } from "./replayed.ts"

/**
 * Two agents with evaluations, decisions that name them and one that names none, two settlements, a void, and three
 * versions.
 */
const life = Effect.gen(function* () {
  const capture = yield* Capture
  const evaluations = yield* Evaluations
  const [first, second] = [yield* activeAgent("refund bot"), yield* activeAgent("other bot")]
  const envelopeId = yield* publish({ agent_id: first }, refunds())
  yield* publish({ agent_id: second }, refunds())
  for (const agent of [first, second]) yield* Agents.use((agents) => agents.update(agent, { autonomy_tier: "L2" }, ben))
  const refund = (agent: string) =>
    Effect.andThen(TestClock.adjust(60_000), ask(agent, { tool: "refund", amount: 500 }))
  const [one, two, voided] = [yield* refund(first), yield* refund(first), yield* refund(first)]
  const other = yield* refund(second)
  const decide = (agent: string, ref: string, evaluation?: string) =>
    Effect.map(
      capture.witness(
        agent,
        [
          {
            client_ref: ref,
            kind: "tool_call",
            action: "refund",
            status: "intended",
            ...(evaluation === undefined ? {} : { evaluation_id: evaluation })
          }
        ],
        host
      ),
      ({ receipts: [receipt] }) => receipt!.decision_id
    )
  const [d1, d2] = [yield* decide(first, "d-1", one.id), yield* decide(first, "d-2", two.id)]
  yield* decide(first, "d-3")
  yield* decide(second, "d-4", other.id)
  yield* capture.settle(d1, { status: "ok", actual: [{ meter: "spent", amount: 400 }] }, ben)
  yield* capture.settle(d2, { status: "ok" }, host)
  yield* evaluations.void(voided.id, {}, ben)
  yield* ask(first, { tool: "refund", amount: 3_000 })
  yield* ask(first, { tool: "search", untrusted: true }, "run-2")
  yield* ask(first, { tool: "refund", amount: 1 }, "run-2")
  yield* republish(envelopeId, refunds({ params: { unused: 1 } }))
  yield* Envelopes.use((envelopes) => envelopes.withdraw(envelopeId, {}, ann))
  yield* republish(envelopeId, refunds())
  const key = yield* IngestKeys.use((keys) => keys.mint({ name: "ci", org_unit: "support" }, ben))
  const person = yield* Principals.use((principals) => principals.writerFor("https://idp.example", "carla"))
  return { first, second, key: key.id, person: person.id }
})

let open: OpenPack
let who: Effect.Success<typeof life>
beforeAll(async () => {
  ;({ answer: who, open } = await lived(life))
})

const seqOf = (kind: string, nth = 0): number =>
  open.records.flatMap((record, seq) => (record.kind === kind ? [seq] : [])).at(nth)!
const bodyOf = (kind: string, nth = 0): JsonObject => open.records[seqOf(kind, nth)]!.body
const changedAt = (seq: number, change: JsonObject): OpenPack => withBody(open, seq, (body) => ({ ...body, ...change }))

/** Replay finds the one record under this name, and the pack itself is found in order. */
const expectFound = async (wrong: OpenPack, seq: number, verdict: string, reason: RegExp): Promise<void> => {
  const { findings, integrity, replay, status, text } = await resealed(wrong)
  expect({ findings, integrity, status }).toEqual({ findings: [], integrity: "ok", status: 1 })
  const [found] = [...replay!.mismatches, ...replay!.four_eyes.mismatches]
  expect(found).toMatchObject({ seq, verdict, reason: expect.stringMatching(reason) })
  expect(text).toContain(`Record ${seq}: `)
}

describe("an unchanged chain", () => {
  it("replays without a mismatch", async () => {
    const { replay, status } = await resealed(open)
    expect([status, replay!.mismatches, replay!.withheld, replay!.four_eyes.mismatches]).toEqual([0, [], [], []])
  })

  it("causes no finding in a range that begins at any record", async () => {
    const ranges = await inBoundedWorld(
      Effect.gen(function* () {
        yield* life
        const all: Array<{ readonly pack: Uint8Array; readonly vkey: string }> = []
        for (let from = 1; from < open.records.length; from += 3)
          all.push(yield* exported({ kind: "range", from, to: open.records.length - 1 }))
        return all
      })
    )
    for (const { pack, vkey } of ranges) {
      const { replay } = await replayed(pack, vkey)
      expect([...replay!.mismatches, ...replay!.four_eyes.mismatches]).toEqual([])
    }
  }, 60_000)
})

describe("replay finds in meter.voided the", () => {
  const seq = () => seqOf("meter.voided")
  it("evaluation_id of another evaluation", () => {
    const id = bodyOf("evaluation.made", 0)["evaluation_id"]!
    return expectFound(
      changedAt(seq(), { evaluation_id: id }),
      seq(),
      "reference_mismatch",
      /^The evaluation evl_\S+ is the record at \d+; the record names \d+\.$/
    )
  })
  it("evaluation_id of no evaluation", () =>
    expectFound(
      changedAt(seq(), { evaluation_id: `evl_${"0".repeat(26)}` }),
      seq(),
      "reference_mismatch",
      /^The evaluation at \d+ has another id than evl_0+\.$/
    ))
  it("evaluation_seq of a record that is no evaluation", () =>
    expectFound(
      changedAt(seq(), { evaluation_seq: 1 }),
      seq(),
      "reference_mismatch",
      /^The record at 1 is no evaluation\.$/
    ))
  it("agent_id of another agent", () =>
    expectFound(
      changedAt(seq(), { agent_id: who.second }),
      seq(),
      "reference_mismatch",
      /^The evaluation at \d+ belongs to agt_\S+; the record says agt_\S+\.$/
    ))
})

describe("replay finds in decision.settled the", () => {
  const settled = () => seqOf("decision.settled")
  const bare = () => seqOf("decision.settled", 1)
  const decision = (nth: number) => seqOf("decision.witnessed", nth)
  it("decision_seq of a record that is no decision", () =>
    expectFound(
      changedAt(bare(), { decision_seq: 1 }),
      bare(),
      "reference_mismatch",
      /^The record at 1 is no decision\.$/
    ))
  it("decision_seq of an evaluation", () =>
    expectFound(
      changedAt(bare(), { decision_seq: seqOf("evaluation.made") }),
      bare(),
      "reference_mismatch",
      /is no decision\.$/
    ))
  it("decision_seq of a later record", () =>
    expectFound(
      changedAt(bare(), { decision_seq: bare() + 1 }),
      bare(),
      "reference_mismatch",
      /^The decision must be before the record; the record names \d+\.$/
    ))
  it("decision_seq of another agent's decision", () =>
    expectFound(
      changedAt(bare(), { decision_seq: decision(3) }),
      bare(),
      "reference_mismatch",
      /^The decision at \d+ belongs to agt_\S+; the record says agt_\S+\.$/
    ))
  it("decision_seq of a decision that names no evaluation", () =>
    expectFound(
      changedAt(settled(), { decision_seq: decision(2) }),
      settled(),
      "reference_mismatch",
      /^The decision at \d+ names no evaluation; the record settles the one at \d+\.$/
    ))
  it("decision_seq of a decision that names another evaluation", () =>
    expectFound(
      changedAt(settled(), { decision_seq: decision(1) }),
      settled(),
      "reference_mismatch",
      /^The decision at \d+ names the evaluation at \d+; the record settles the one at \d+\.$/
    ))
  it("evaluation_seq of an evaluation that the decision does not name", () =>
    expectFound(
      changedAt(settled(), { evaluation_seq: seqOf("evaluation.made", 1) }),
      settled(),
      "reference_mismatch",
      /^The decision at \d+ names the evaluation at \d+/
    ))
})

describe("replay finds in drafts and versions the", () => {
  const redraft = () => seqOf("envelope.drafted", 2)
  const reversion = () => seqOf("envelope.published", 2)
  it("revision that skips a number", () =>
    expectFound(
      changedAt(redraft(), { revision: 4 }),
      redraft(),
      "number_mismatch",
      /^The next revision is 3; the record says 4\.$/
    ))
  it("revision of a first draft", () =>
    expectFound(
      changedAt(seqOf("envelope.drafted"), { revision: 2 }),
      seqOf("envelope.drafted"),
      "number_mismatch",
      /^The next revision is 1; the record says 2\.$/
    ))
  it("revision after a withdrawal", () =>
    expectFound(
      changedAt(seqOf("envelope.drafted", 3), { revision: 5 }),
      seqOf("envelope.drafted", 3),
      "number_mismatch",
      /^The next revision is 6; the record says 5\.$/
    ))
  it("version of a draft", () =>
    expectFound(
      changedAt(redraft(), { version: 3 }),
      redraft(),
      "number_mismatch",
      /^The next version is 2; the record says 3\.$/
    ))
  it("version of a publication", () =>
    expectFound(
      changedAt(reversion(), { version: 7 }),
      reversion(),
      "number_mismatch",
      /^The next version is 2; the record says 7\.$/
    ))
})

describe("replay finds in evaluation.made the", () => {
  const large = () =>
    open.records.findIndex(({ body, kind }) => kind === "evaluation.made" && body["outcome"] === "require_review")
  const tainted = () => open.records.findIndex(({ body }) => body["matched_rule"] === "tainted")
  const review = `rev_${"0".repeat(26)}`
  it("review_id where the outcome opens none", () =>
    expectFound(
      changedAt(seqOf("evaluation.made"), { review_id: review }),
      seqOf("evaluation.made"),
      "review_mismatch",
      /^Only the outcome require_review opens a review; the record says allow_with_notice and names rev_0+\.$/
    ))
  it("approval_id that would allow an action without its review", () =>
    expectFound(
      changedAt(large(), { approval_id: review, outcome: "allow" }),
      large(),
      "review_mismatch",
      /^rev_0+ was not approved when it was presented\.$/
    ))
  it("review_id of another review", () =>
    expectFound(
      changedAt(large(), { review_id: review }),
      large(),
      "review_mismatch",
      /^The evaluation opens rev_[0-9a-z]+; the record names rev_0+\.$/
    ))
  it("run_id of another run, where a latch is set", () =>
    expectFound(
      changedAt(tainted(), { run_id: "run-3" }),
      tainted(),
      "outcome_mismatch",
      /^The outcome is allow_with_notice; the record says deny\.$/
    ))
  it("writer that is a rule", () =>
    expectFound(
      changedAt(large(), { writer: "policy:orphan_grace" }),
      large(),
      "writer_mismatch",
      /^Only a person or .* key may write evaluation\.made; the record says policy:orphan_grace\.$/
    ))
})

describe("replay finds a writer", () => {
  it.each(["decision.witnessed", "decision.settled", "meter.voided", "envelope.withdrawn"])(
    "of %s that is a rule",
    (kind) =>
      expectFound(
        changedAt(seqOf(kind), { writer: "breaker:spend" }),
        seqOf(kind),
        "writer_mismatch",
        new RegExp(
          `^Only a person( or an? [a-z]+ key)*( or system:[a-z]+)* may write ${kind}; ` +
            "the record says breaker:spend\\.$"
        )
      )
  )

  it("that is a key before the key was minted", () => {
    const seq = seqOf("decision.witnessed")
    return expectFound(
      changedAt(seq, { writer: who.key }),
      seqOf("ingest_key.minted"),
      "writer_mismatch",
      new RegExp(`^${who.key} is created by this record, but wrote record ${seq}\\.$`)
    )
  })

  it("that is a person before the person was first seen", () => {
    const seq = seqOf("envelope.withdrawn")
    return expectFound(
      changedAt(seq, { writer: who.person }),
      seqOf("principal.seen"),
      "writer_mismatch",
      new RegExp(`^${who.person} is created by this record, but wrote record ${seq}\\.$`)
    )
  })
})

describe("a member that records do not determine", () => {
  const decided = () => seqOf("decision.witnessed")
  const said: ReadonlyArray<readonly [string, () => number, JsonObject]> = [
    [
      "action_digest of an evaluation whose arguments are redacted",
      () => seqOf("evaluation.made"),
      { action_digest: "0".repeat(64), args_redacted: true }
    ],
    ["approval_id that changes nothing", () => seqOf("evaluation.made"), { approval_id: "none" }],
    ["run_id where no latch is set", () => seqOf("evaluation.made"), { run_id: "another" }],
    [
      "run_id, approval_id and evaluation_id of a decision",
      () => seqOf("decision.witnessed", 2),
      { run_id: "another", approval_id: "none", evaluation_id: "none" }
    ],
    ["another person or key that could have written it", decided, { writer: "key_00000000000000000000000009" }]
  ]
  it.each(said)("is accepted: %s", async (_, at, change) => {
    const { replay, status } = await resealed(changedAt(at(), change))
    expect([status, replay!.mismatches, replay!.four_eyes.mismatches]).toEqual([0, [], []])
  })

  it("is listed in the report", async () => {
    const { replay, text } = await resealed(open)
    expect(replay!.not_replayed.join(" ")).toMatch(
      /action_digest.*approval_id.*review_id.*run_id.*writer.*decision_seq/
    )
    expect(text).toContain("Members that replay does not check")
    expect(text).toContain("action_digest")
  })
})
