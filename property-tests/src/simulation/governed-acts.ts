/**
 * Acts on a governed agent: publish its envelope, evaluate, void and settle. Every
 * number is a choice of the seed.
 */
import { Agents, Capture, Envelopes, Evaluations, systemHost, Waivers } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { lineOf } from "./ledger.ts"

/** Amount that the agent may spend in a window. */
export const CAP = 1_000
/** The model that the governed agent uses. */
export const MODEL = "gpt-9"
/** A window that outlives a run, whatever clocks do: then the cap holds for all of it together. Unit: milliseconds. */
const WINDOW_MS = 30 * 86_400_000
/**
 * How long an exception holds, by the store's clock. It may leap a day, and more than once, before the request. Unit:
 * milliseconds.
 */
const WAIVER_MS = 40 * 86_400_000
/** The publisher is not the author of the draft. */
export const second = { id: `usr_${"0".repeat(25)}2` }

/** With a rule that a waiver can be made from. */
const spending = (most: number): { readonly [member: string]: unknown } => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["find", "pay"], source: "caller" },
    amount: { type: "int", min: 0, max: 5_000, source: "args", from: "/amount", on_missing: 0 }
  },
  effects: { find: "read", pay: "write_reversible" },
  meters: { spent: { op: "sum", of: "amount", where: { tool: ["pay"] }, window_ms: WINDOW_MS, key: ["agent_id"] } },
  rules: [
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
      id: "large",
      outcome: "require_review",
      when: [
        { signal: "tool", in: ["pay"] },
        { signal: "amount", gt: 350 }
      ]
    }
  ],
  default: { outcome: "deny" }
})

/**
 * Refusals of one who comes second: what he wanted is there, or somebody else was quicker. Or calls that clients gave
 * up
 * are under way still, in a slow store.
 */
const settledAlready: ReadonlySet<string> = new Set([
  "NothingToPublish",
  "EnvelopeRevisionConflict",
  "InvalidTransition",
  "AgentVersionConflict",
  "EnvelopeNotInForce",
  "WaiverNotOpen",
  "TierGateUnmet",
  "ExaminationQueueFull"
])

/** The value of an answer; null where there is none, or where one who comes second is refused. */
export const allowing = Effect.fnUntraced(function* <A>(
  client: Client,
  what: string,
  answer:
    | { readonly done: true; readonly value: A }
    | { readonly done: false; readonly refusal: { readonly _tag: string } }
    | null
) {
  if (answer === null || answer.done) return answer?.value ?? null
  if (!settledAlready.has(answer.refusal._tag)) yield* unexpected(client, what, answer.refusal._tag)
  return null
})

/** The governed agent, registered at first sight. */
export const agentOf = Effect.fnUntraced(function* (client: Client) {
  const known = client.ledger.agents.get("governed")
  if (known !== undefined) return known
  const made = yield* allowing(
    client,
    "register",
    yield* ask(
      client,
      "register",
      Agents.use((agents) =>
        agents.register(
          {
            name: "governed",
            org_unit: "ops",
            owner_name: "Ada",
            owner_email: "ada@example.org",
            model_ids: [MODEL]
          },
          systemHost
        )
      )
    )
  )
  if (made !== null) client.ledger.agents.set("governed", made.agent.id)
  return made?.agent.id ?? null
})

/** Its envelope, begun at first sight; null when this client has just begun it, or nobody knows. */
const envelopeOf = Effect.fnUntraced(function* (client: Client, agentId: string) {
  const found = yield* ask(
    client,
    "list envelopes",
    Envelopes.use((envelopes) => envelopes.list({ agent_id: agentId }))
  )
  if (found === null || !found.done) return null
  const [known] = found.value
  if (known !== undefined) return known.id
  const made = yield* ask(
    client,
    "begin",
    Envelopes.use((envelopes) =>
      envelopes.create({ name: "of the governed", agent_id: agentId, envelope: spending(400) }, systemHost)
    )
  )
  if (made === null) return null
  if (made.done) return made.value.id
  return made.refusal._tag === "EnvelopeExists"
    ? (made.refusal.envelopeId ?? null)
    : yield* unexpected(client, "begin", made.refusal._tag)
})

const govern: Act = Effect.fnUntraced(function* (client) {
  const agentId = yield* agentOf(client)
  const id = agentId === null ? null : yield* envelopeOf(client, agentId)
  if (agentId === null || id === null) return
  yield* allowing(
    client,
    "draft",
    yield* ask(
      client,
      "draft",
      Envelopes.use((envelopes) => envelopes.update(id, { envelope: spending(300 + client.pick(4) * 50) }, systemHost))
    )
  )
  yield* allowing(
    client,
    "publish",
    yield* ask(
      client,
      "publish",
      Envelopes.use((envelopes) => envelopes.publish(id, {}, second))
    )
  )
  yield* allowing(
    client,
    "raise",
    yield* ask(
      client,
      "raise",
      Agents.use((agents) => agents.update(agentId, { autonomy_tier: "L2" }, systemHost))
    )
  )
  yield* allowing(
    client,
    "activate",
    yield* ask(
      client,
      "activate",
      Agents.use((agents) => agents.activate(agentId, systemHost))
    )
  )
})

const evaluate: Act = Effect.fnUntraced(function* (client, turn) {
  const { pick } = client
  if ((yield* agentOf(client)) === null) return
  // Now and then two ask under one reference, each time the same.
  const ref = pick(4) === 0 ? `shared-${pick(6)}` : `${client.name}/${turn}`
  yield* evaluateUnder(client, ref)
})

/** Has the governed agent evaluated under a reference, which is each time for the same. */
export const evaluateUnder = Effect.fnUntraced(function* (
  client: Client,
  ref: string,
  more: { readonly instance_id?: string } = {}
) {
  const { ledger, pick } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const line = lineOf(ledger.evaluated, ref, () => ({ agent: agentId, receipt: null, amount: 10 + pick(400) }))
  const requested = {
    agent_id: agentId,
    client_ref: ref,
    signals: { tool: "pay" },
    args: { amount: line.amount },
    ...more
  }
  const made = yield* allowing(
    client,
    "evaluate",
    yield* ask(
      client,
      "evaluate",
      Evaluations.use((evaluations) => evaluations.evaluate(requested, systemHost))
    )
  )
  if (made === null) return
  const { id, meters, outcome, seq } = made
  if (line.receipt !== null && (line.receipt.id !== id || line.receipt.seq !== seq || line.receipt.outcome !== outcome))
    ledger.problems.push(
      `evaluate: ${ref} was answered with ${line.receipt.id}, ${line.receipt.outcome}, then with ${id}, ${outcome}`
    )
  line.receipt ??= { id, seq, outcome, meters }
  ledger.highestSeq = Math.max(ledger.highestSeq, seq)
})

/** Some acknowledged evaluation of the governed agent; null when there is none. */
const evaluated = ({ ledger, pick }: Client) => {
  const governed = ledger.agents.get("governed")
  const all = [...ledger.evaluated.values()].flatMap(({ agent, receipt }) =>
    receipt === null || agent !== governed ? [] : [receipt]
  )
  return all[pick(Math.max(1, all.length))] ?? null
}

/** Takes one back. Where it added nothing, and after a decision has said what it came to, that is refused. */
const takeBack: Act = Effect.fnUntraced(function* (client) {
  const found = evaluated(client)
  if (found === null) return
  const answer = yield* ask(
    client,
    "void",
    Evaluations.use((evaluations) => evaluations.void(found.id, {}, systemHost))
  )
  const isFree = (tag: string): boolean =>
    tag === "NothingToVoid" || (tag === "EvaluationEnded" && client.ledger.cameTo.has(found.id))
  if (answer !== null && !answer.done && !isFree(answer.refusal._tag))
    yield* unexpected(client, "void", answer.refusal._tag)
})

/** Says what one came to. */
const account: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const found = evaluated(client)
  const agentId = yield* agentOf(client)
  if (found === null || agentId === null || found.outcome === "deny") return
  const ref = `account-${client.name}/${turn}`
  const line = ledger.decision(agentId, ref)
  line.contents.add(ref)
  const decision = {
    client_ref: ref,
    kind: "tool_call" as const,
    action: "pay",
    status: "intended" as const,
    evaluation_id: found.id,
    args: { content: ref }
  }
  const witnessed = yield* ask(
    client,
    "account",
    Capture.use((capture) => capture.witness(agentId, [decision], systemHost))
  )
  if (witnessed === null || !witnessed.done) return
  const [receipt] = witnessed.value.receipts
  line.receipt ??= { decisionId: receipt!.decision_id, seq: receipt!.seq, hash: receipt!.record_hash, content: ref }
  ledger.cameTo.add(found.id)
  const settled = lineOf(ledger.settled, receipt!.decision_id, () => ({
    outcomes: new Set<string>(),
    receipt: null,
    fresh: 0
  }))
  const amount = pick(10)
  // Other content than settling without it, though the status is the same.
  settled.outcomes.add(`ok with ${amount}`)
  const answer = yield* ask(
    client,
    "come to",
    Capture.use((capture) =>
      capture.settle(receipt!.decision_id, { status: "ok", actual: [{ meter: "spent", amount }] }, systemHost)
    )
  )
  if (answer === null || answer.done) return
  // Taken back, accounted for by another decision, or settled by somebody who said nothing of meters.
  const isFree =
    answer.refusal._tag === "EvaluationEnded" ||
    answer.refusal._tag === "InvalidInput" ||
    (answer.refusal._tag === "DecisionAlreadySettled" && settled.outcomes.size > 1)
  if (!isFree) yield* unexpected(client, "come to", answer.refusal._tag)
})

/** An exception to one rule, by two people. */
const waive: Act = Effect.fnUntraced(function* (client) {
  const agentId = yield* agentOf(client)
  const id = agentId === null ? null : yield* envelopeOf(client, agentId)
  if (id === null) return
  const wanted = {
    rule_id: "large",
    unless: [{ signal: "amount", lte: 350 + client.pick(50) }],
    reason: "quarter's end"
  }
  const request = Effect.gen(function* () {
    const { ms } = yield* (yield* Storage).asOf
    return yield* (yield* Waivers).request(
      id,
      { ...wanted, expires_at: new Date(ms + WAIVER_MS).toISOString() },
      systemHost
    )
  })
  const requested = yield* allowing(client, "waiver", yield* ask(client, "waiver", request))
  if (requested !== null)
    yield* allowing(
      client,
      "grant",
      yield* ask(
        client,
        "grant",
        Waivers.use((waivers) => waivers.grant(id, requested.id, second))
      )
    )
})

/** Takes its envelope out of force: the agent stays active and acts at a lower tier, until somebody publishes again. */
const withdraw: Act = Effect.fnUntraced(function* (client) {
  const agentId = yield* agentOf(client)
  const id = agentId === null || client.pick(2) === 0 ? null : yield* envelopeOf(client, agentId)
  if (id !== null)
    yield* allowing(
      client,
      "withdraw",
      yield* ask(
        client,
        "withdraw",
        Envelopes.use((envelopes) => envelopes.withdraw(id, {}, systemHost))
      )
    )
})

/** The acts by name. */
export const governedActs = { govern, evaluate, void: takeBack, account, waive, withdraw } satisfies {
  readonly [name: string]: Act
}
