/**
 * Acts on the behaviour of the governed agent: runs that change, alarms about them, and breakers that its good runs
 * calibrate. Every number is a choice of the seed.
 */
import { Breakers, Capture, driftAlarms, ResponsePolicies, systemHost } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ask, unexpected } from "./client.ts"
import { agentOf, second } from "./governed-acts.ts"
import { lineOf } from "./ledger.ts"

/** Runs of one act, and the most decisions of a run. */
const RUNS = 4
const MOST = 4
/** The turn from which the agent does something else. */
const CHANGES_AT = 8
/** Rounds of one who follows, and the pause after each. Unit: milliseconds. */
const [ROUNDS, ROUND_MS] = [4, 1_000]
const WINDOW_MS = 86_400_000
/** Four good runs are enough for it. */
const BOUND_BP = 2_000
const responses = ["notify", "drain", "halt"] as const

/** The agent makes some runs, whole, in one commit. */
const behave: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const lengths = Array.from({ length: RUNS }, () => 2 + pick(MOST - 1))
  const decisions = lengths.flatMap((length, run) =>
    Array.from({ length }, (_, step) => ({
      client_ref: `behaving-${client.name}/${turn}.${run}.${step}`,
      run_id: `${client.name}/${turn}.${run}`,
      kind: "tool_call" as const,
      action: turn < CHANGES_AT ? "read" : "delete",
      status: "ok" as const,
      args: { content: `${run}.${step}` }
    }))
  )
  for (const { args, client_ref: ref } of decisions) ledger.decision(agentId, ref).contents.add(args.content)
  const answer = yield* ask(
    client,
    "behave",
    Capture.use((capture) => capture.witness(agentId, decisions, systemHost))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "behave", answer.refusal._tag))
  answer.value.receipts.forEach((receipt, at) => {
    const { args, client_ref: ref } = decisions[at]!
    const { decision_id: decisionId, record_hash: hash, seq } = receipt
    ledger.decision(agentId, ref).receipt ??= { decisionId, seq, hash, content: args.content }
    ledger.highestSeq = Math.max(ledger.highestSeq, seq)
  })
})

/** Has agents followed, under a response that changes. */
const followBy: Act = Effect.fnUntraced(function* (client) {
  const response = responses[client.pick(responses.length)]!
  const answer = yield* ask(
    client,
    "follow by",
    ResponsePolicies.use((policies) =>
      policies.set([{ scope: "default", trigger: "drift", response, notify: [] }], systemHost)
    )
  )
  if (answer?.done === false) yield* unexpected(client, "follow by", answer.refusal._tag)
})

/** Follows agents for some rounds, as a process does that just got the lease; others may believe the same. */
const follow: Act = Effect.fnUntraced(function* (client) {
  const { ledger } = client
  yield* ask(
    client,
    "follow",
    Effect.gen(function* () {
      const { round } = yield* driftAlarms()
      for (let rounds = 0; rounds < ROUNDS; rounds++) {
        const alarms = yield* round
        ledger.alarms += alarms
        for (let n = 0; n < alarms; n++) ledger.count("alarm")
        yield* Effect.sleep(ROUND_MS)
      }
    })
  )
})

/** Arms a breaker by the good runs so far. */
const calibrate: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const [from, to] = [pick(Math.max(1, ledger.highestSeq >> 1)), Math.max(0, ledger.highestSeq)]
  const name = `bound-${client.name}-${turn}`
  const line = lineOf(ledger.breakers, name, () => ({ tries: 0, acknowledged: 0, id: null }))
  const answer = yield* ask(
    client,
    "calibrate",
    Breakers.use((breakers) =>
      breakers.arm(
        agentId,
        {
          name,
          metric: "action_velocity",
          params: { window_ms: WINDOW_MS, per: "run" },
          enabled: true,
          mode: "warn",
          max_false_stop_bp: BOUND_BP,
          good_runs: { from_seq: from, to_seq: Math.max(from, to) }
        },
        second
      )
    ),
    line
  )
  if (answer === null) return
  if (answer.done) {
    line.acknowledged += 1
    line.id = answer.value.id
    // The range has too few good runs yet; or an earlier try landed, and nobody heard of it.
  } else if (answer.refusal._tag !== "InvalidInput" && (answer.refusal._tag !== "BreakerNameTaken" || line.tries < 2))
    yield* unexpected(client, "calibrate", answer.refusal._tag)
})

/** The acts by name. */
export const driftActs = { behave, followBy, follow, calibrate } satisfies { readonly [name: string]: Act }
