/**
 * Acts on the breakers of the governed agent: arm, change, read and release them, and let the agent fail.
 * Every number is a choice of the seed.
 */
import { Breakers, Capture, Kill, systemHost } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { agentOf, evaluateUnder, second } from "./governed-acts.ts"
import { lineOf } from "./ledger.ts"

/** Breakers that clients arm, by name: few, so that clients meet. */
const measures = {
  streak: { metric: "consecutive_failures", params: { max_count: 2, window_ms: 5_000 } },
  failing: { metric: "error_rate", params: { window_ms: 20_000, min_samples: 3, threshold_bp: 6_000 } },
  pace: { metric: "action_velocity", params: { window_ms: 2_000, max_count: 4 } },
  refused: { metric: "denial_rate", params: { window_ms: 20_000, min_samples: 3, threshold_bp: 4_000 } }
} as const
const names = Object.keys(measures) as ReadonlyArray<keyof typeof measures>
const modes = ["enforce", "enforce", "enforce", "warn", "shadow"] as const
const responses = ["notify", "step_down", "drain", "halt"] as const

const arm: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const name = names[pick(names.length)]!
  const mode = modes[pick(modes.length)]!
  const response = responses[pick(responses.length)]!
  const line = lineOf(ledger.breakers, name, () => ({ tries: 0, acknowledged: 0, id: null }))
  const answer = yield* ask(
    client,
    "arm",
    Breakers.use((breakers) =>
      breakers.arm(agentId, { ...measures[name], name, mode, response, enabled: true }, second)
    ),
    line
  )
  if (answer === null) return
  if (!answer.done) {
    // Another client was quicker, or the first try landed and nobody heard of it.
    if (answer.refusal._tag !== "BreakerNameTaken" || line.tries < 2)
      yield* unexpected(client, "arm", answer.refusal._tag)
    return
  }
  line.acknowledged += 1
  line.id = answer.value.id
})

/** Some breaker that is acknowledged; null when there is none. */
const someBreaker = ({ ledger, pick }: Client): string | null => {
  const all = [...ledger.breakers.values()].flatMap(({ id }) => id ?? [])
  return all[pick(Math.max(1, all.length))] ?? null
}

const change: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const id = someBreaker(client)
  if (id === null) return
  const mode = modes[pick(modes.length)]!
  const enabled = pick(4) > 0
  const line = lineOf(ledger.breakerChanges, id, () => ({ tries: 0, acknowledged: [] }))
  const answer = yield* ask(
    client,
    "change breaker",
    Breakers.use((breakers) => breakers.update(id, { mode, enabled }, systemHost)),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "change breaker", answer.refusal._tag))
  line.acknowledged.push({ mode, enabled })
})

/** Arms a tripped breaker again, and lifts what it activated: of one of its clients, the others may be quicker. */
const rearm: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const id = someBreaker(client)
  if (id === null) return
  const before = yield* ask(
    client,
    "get breaker",
    Breakers.use((breakers) => breakers.get(id))
  )
  if (before === null || !before.done) return
  const activation = before.value.fired_event_id
  if (activation !== null && pick(4) > 0) {
    const lifted = lineOf(ledger.killReleases, activation, () => ({ tries: 0, acknowledged: 0, epoch: null }))
    const answer = yield* ask(
      client,
      "kill release",
      Kill.use((kill) => kill.release({ activation_event: activation, reason: client.name }, second)),
      lifted
    )
    if (answer?.done === true) {
      lifted.acknowledged += 1
      lifted.epoch = answer.value.epoch
      ledger.killEpoch = Math.max(ledger.killEpoch, answer.value.epoch)
    } else if (answer !== null && answer.refusal._tag !== "ActivationReleased")
      yield* unexpected(client, "kill release", answer.refusal._tag)
  }
  const line = lineOf(ledger.breakerReleases, id, () => ({ tries: 0, acknowledged: 0 }))
  const answer = yield* ask(
    client,
    "release breaker",
    Breakers.use((breakers) => breakers.release(id, { reason: client.name }, systemHost)),
    line
  )
  if (answer === null) return
  if (answer.done) line.acknowledged += 1
  else if (answer.refusal._tag !== "BreakerNotTripped")
    yield* unexpected(client, "release breaker", answer.refusal._tag)
})

/** Reads all breakers now, which trips what is due. */
const inspect: Act = Effect.fnUntraced(function* (client) {
  const answer = yield* ask(
    client,
    "check breakers",
    Breakers.use((breakers) => breakers.check())
  )
  if (answer?.done === true) client.ledger.breakerReadings.push(...answer.value)
})

/** The agent says what came of an action: mostly nothing good. */
const fail: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const ref = `failing-${client.name}/${turn}`
  const line = ledger.decision(agentId, ref)
  line.contents.add(ref)
  const status = pick(3) === 0 ? ("ok" as const) : ("error" as const)
  const decision = { client_ref: ref, kind: "tool_call" as const, action: "pay", status, args: { content: ref } }
  const answer = yield* ask(
    client,
    "fail",
    Capture.use((capture) => capture.witness(agentId, [decision], systemHost))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "fail", answer.refusal._tag))
  const [receipt] = answer.value.receipts
  line.receipt ??= { decisionId: receipt!.decision_id, seq: receipt!.seq, hash: receipt!.record_hash, content: ref }
  ledger.highestSeq = Math.max(ledger.highestSeq, receipt!.seq)
})

/** An evaluation: what is due trips before it. */
const pay: Act = (client, turn) => evaluateUnder(client, `pay-${client.name}/${turn}`)

/** The acts by name. */
export const breakerActs = { arm, change, rearm, inspect, fail, pay } satisfies { readonly [name: string]: Act }
