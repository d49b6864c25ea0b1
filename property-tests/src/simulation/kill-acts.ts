/**
 * Acts on the kill switch: activate, release, acknowledge, read the state, and evaluate under it. Every
 * number is a choice of the seed.
 */
import { Agents, Kill, systemHost } from "@flyball/core"
import type { KillTarget } from "../../../packages/rules/src/index.ts"
import { Effect } from "effect"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { agentOf, evaluateUnder, MODEL, second } from "./governed-acts.ts"
import { type KillStatusLine, type Ledger, lineOf } from "./ledger.ts"

/** The name of the agent whose parent is the governed one. It is at L3: who stopped it does not let it go. */
export const CHILD = "governed child"

const responses = ["notify", "step_down", "drain", "halt", "halt", "quarantine"] as const

/** The child, registered at first sight. */
const childOf = Effect.fnUntraced(function* (client: Client, parentId: string) {
  const known = client.ledger.agents.get(CHILD)
  if (known !== undefined) return known
  const answer = yield* ask(
    client,
    "register",
    Agents.use((agents) =>
      agents.register({ name: CHILD, org_unit: "ops", autonomy_tier: "L3", parent_agent_id: parentId }, systemHost)
    )
  )
  if (answer === null) return null
  if (!answer.done) return yield* unexpected(client, "register", answer.refusal._tag)
  client.ledger.agents.set(CHILD, answer.value.agent.id)
  return answer.value.agent.id
})

/** Targets of the kill switch: the governed agent, its child, the model of the first. */
const targetsOf = Effect.fnUntraced(function* (client: Client) {
  const agentId = yield* agentOf(client)
  const childId = agentId === null ? null : yield* childOf(client, agentId)
  if (agentId === null || childId === null) return null
  return [
    { type: "agent", id: agentId },
    { type: "agent", id: childId },
    { type: "model", id: MODEL }
  ] as const satisfies ReadonlyArray<KillTarget>
})

/** The targets as far as they are acknowledged. */
export const knownTargets = (ledger: Ledger): ReadonlyArray<KillTarget> => [
  ...["governed", CHILD].flatMap((name) => {
    const id = ledger.agents.get(name)
    return id === undefined ? [] : [{ type: "agent" as const, id }]
  }),
  { type: "model", id: MODEL }
]

/** The question for a state, as the ledger keeps its answer. */
export const statusOfTarget = (target: KillTarget) =>
  Kill.use((kill) => kill.status({ type: target.type, id: target.id }))

/** Writes a state down, beside the highest epoch that somebody knew of before the question. */
export const noteStatus = (ledger: Ledger, by: string, floor: number, status: KillStatusLine["status"]): void => {
  ledger.killStatuses.push({ by, floor, status })
  ledger.killEpoch = Math.max(ledger.killEpoch, status.epoch)
}

const activate: Act = Effect.fnUntraced(function* (client, turn) {
  const { pick } = client
  const targets = yield* targetsOf(client)
  if (targets === null) return
  const target = targets[pick(targets.length)]!
  yield* activateTarget(client, target, responses[pick(responses.length)]!, `${client.name}/${turn}`)
})

/** Aims the kill switch at a target. The reason is one for each act. */
export const activateTarget = Effect.fnUntraced(function* (
  client: Client,
  target: KillTarget & { readonly type: "agent" | "model" },
  response: (typeof responses)[number],
  reason: string
) {
  const { ledger } = client
  const line = lineOf(ledger.killActivations, reason, () => ({ tries: 0, acknowledged: 0, id: null }))
  const floor = ledger.killEpoch
  const answer = yield* ask(
    client,
    "kill activate",
    Kill.use((kill) => kill.activate({ target_type: target.type, target_id: target.id, response, reason }, systemHost)),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "kill activate", answer.refusal._tag))
  const { activation_event: id, epoch, status } = answer.value
  line.acknowledged += 1
  line.id = id
  ledger.killHeld.push({ id: id!, target, epoch })
  ledger.killEpoch = Math.max(ledger.killEpoch, epoch)
  noteStatus(ledger, `${client.name} after its activation`, Math.max(floor, epoch), status)
})

const release: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const held = ledger.killHeld[pick(Math.max(1, ledger.killHeld.length))]
  if (held === undefined) return
  const writer = pick(3) === 0 ? systemHost : second
  const line = lineOf(ledger.killReleases, held.id, () => ({ tries: 0, acknowledged: 0, epoch: null }))
  const floor = ledger.killEpoch
  const answer = yield* ask(
    client,
    "kill release",
    Kill.use((kill) => kill.release({ activation_event: held.id, reason: client.name }, writer)),
    line
  )
  if (answer === null) return
  if (!answer.done) {
    const { _tag: tag } = answer.refusal
    // Somebody was quicker, or the first try landed and nobody heard of it; or it takes another person.
    if (tag !== "ActivationReleased" && !(tag === "ReleaseNotAllowed" && writer === systemHost))
      yield* unexpected(client, "kill release", tag)
    return
  }
  const { epoch, status } = answer.value
  if (line.acknowledged++ > 0)
    ledger.problem(`kill: ${held.id} was acknowledged as released at epoch ${line.epoch}, then at ${epoch}`)
  line.epoch = epoch
  ledger.killEpoch = Math.max(ledger.killEpoch, epoch)
  noteStatus(ledger, `${client.name} after its release`, Math.max(floor, epoch), status)
})

const acknowledge: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const held = ledger.killHeld[pick(Math.max(1, ledger.killHeld.length))]
  const [governed, child] = knownTargets(ledger)
  if (held === undefined || governed === undefined || child === undefined) return
  // The model reaches the governed agent, which reaches its child.
  const agentId = held.target.id === governed.id && pick(2) === 0 ? child.id : held.target.id
  const agent = held.target.type === "model" ? governed.id : agentId
  const stopped = pick(2) === 0
  const instance = `i${pick(3)}`
  const line = lineOf(ledger.killAcks, `${held.id}/${agent}/${instance}`, () => ({ tries: 0, seen: 0, stopped: 0 }))
  const answer = yield* ask(
    client,
    "kill ack",
    Kill.use((kill) =>
      kill.ack({ activation_event: held.id, agent_id: agent, instance_id: instance, stopped }, systemHost)
    ),
    line
  )
  if (answer === null) return
  if (!answer.done) {
    if (answer.refusal._tag !== "ActivationReleased" || !ledger.killReleases.has(held.id))
      yield* unexpected(client, "kill ack", answer.refusal._tag)
    return
  }
  line.seen += 1
  if (answer.value.stopped_at !== null) line.stopped += 1
  if (stopped && answer.value.stopped_at === null)
    ledger.problem(`kill: ${instance} said of ${held.id} that it stopped, and is answered that it did not`)
})

const observe: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const targets = yield* targetsOf(client)
  if (targets === null) return
  const floor = ledger.killEpoch
  const answer = yield* ask(client, "kill status", statusOfTarget(targets[pick(targets.length)]!))
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "kill status", answer.refusal._tag))
  noteStatus(ledger, client.name, floor, answer.value)
})

/** An instance asks whether it may act: activations expect to hear from it then. */
const attempt: Act = (client, turn) =>
  evaluateUnder(client, `attempt-${client.name}/${turn}`, { instance_id: `i${client.pick(3)}` })

/** The acts by name. */
export const killActs = { activate, release, acknowledge, observe, attempt } satisfies { readonly [name: string]: Act }
