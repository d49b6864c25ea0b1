/** Acts of clients, noted in the ledger. Every number is a choice of the seed. */
import { Agents, Capture, Checkpointer, Erasure, IngestKeys, Packs, Principals, systemHost } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { breakerActs } from "./breaker-acts.ts"
import { documentActs } from "./document-acts.ts"
import { driftActs } from "./drift-acts.ts"
import { fleetActs } from "./fleet-acts.ts"
import { flowActs } from "./flow-acts.ts"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { governedActs } from "./governed-acts.ts"
import { killActs } from "./kill-acts.ts"
import { monitorActs } from "./monitor-acts.ts"
import { planActs } from "./plan-acts.ts"
import { platformActs } from "./platform-acts.ts"
import { policyActs } from "./policy-acts.ts"
import { quotaActs } from "./quota-acts.ts"
import { lineOf, type WitnessLine } from "./ledger.ts"
import { reviewActs } from "./review-acts.ts"
import { screenActs } from "./screen-acts.ts"
import { standingActs } from "./standing-acts.ts"
import { toolActs } from "./tool-acts.ts"
import { webhookActs } from "./webhook-acts.ts"

/** Collection of the announcements: documents that come with an event, for the outbox. No record tells of them. */
export const ANNOUNCEMENTS = "announcements"

/** The type of the events that come with announcements; nothing else tells of it. */
export const ANNOUNCED = "simulation.announced"

/** Agents, few enough that clients meet. */
const NAMES = 3
/** References that all clients share. */
const SHARED = 6

const agentOf = (client: Client): Effect.Effect<string | null> => {
  const name = `agent ${client.pick(NAMES)}`
  const known = client.ledger.agents.get(name)
  return known === undefined ? registerAs(client, name) : Effect.succeed(known)
}

const registerAs = Effect.fnUntraced(function* (client: Client, name: string) {
  const { ledger } = client
  const answer = yield* ask(
    client,
    "register",
    Agents.use((agents) =>
      agents.register({ name, org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" }, systemHost)
    )
  )
  if (answer === null) return null
  if (!answer.done) return yield* unexpected(client, "register", answer.refusal._tag)
  const known = ledger.agents.get(name)
  if (known !== undefined && known !== answer.value.agent.id)
    ledger.problems.push(`register: ${name} was ${known} and is ${answer.value.agent.id}`)
  ledger.agents.set(name, answer.value.agent.id)
  return answer.value.agent.id
})

const register: Act = (client) => Effect.asVoid(registerAs(client, `agent ${client.pick(NAMES)}`))

const witness: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const sent = Array.from(
    { length: 1 + pick(3) },
    (_, index): { readonly line: WitnessLine; readonly content: string } => {
      const shared = pick(4) === 0
      const line = ledger.decision(agentId, shared ? `shared-${pick(SHARED)}` : `${client.name}/${turn}/${index}`)
      // Now and then somebody says something else under a shared reference.
      return { line, content: shared && pick(4) === 0 ? `not ${line.clientRef}` : line.clientRef }
    }
  )
  for (const { content, line } of sent) line.contents.add(content)
  const before = ledger.highestSeq
  const decisions = sent.map(({ content, line }) => ({
    client_ref: line.clientRef,
    kind: "tool_call" as const,
    action: "act",
    status: "intended" as const,
    args: { content }
  }))
  const answer = yield* ask(
    client,
    "witness",
    Capture.use((capture) => capture.witness(agentId, decisions, systemHost))
  )
  if (answer === null) return
  if (!answer.done) {
    if (
      answer.refusal._tag !== "ClientRefReused" ||
      !(answer.refusal.indexes ?? []).every((index) => sent[index]!.line.contents.size > 1)
    )
      yield* unexpected(client, "witness", answer.refusal._tag)
    return
  }
  answer.value.receipts.forEach((receipt, index) => {
    const { content, line } = sent[index]!
    const now = { decisionId: receipt.decision_id, seq: receipt.seq, hash: receipt.record_hash, content }
    if (
      line.receipt !== null &&
      (line.receipt.seq !== now.seq || line.receipt.hash !== now.hash || line.receipt.decisionId !== now.decisionId)
    ) {
      ledger.problems.push(`witness: ${line.clientRef} was acknowledged at ${line.receipt.seq}, then at ${now.seq}`)
    }
    line.receipt ??= now
    if (!receipt.duplicate) {
      line.fresh += 1
      if (receipt.seq <= before)
        ledger.problems.push(
          `witness: ${line.clientRef} is new at ${receipt.seq}, but ${before} was acknowledged before it was sent`
        )
    }
    ledger.highestSeq = Math.max(ledger.highestSeq, receipt.seq)
  })
})

/** Some acknowledged decision; null when there is none. */
const acknowledged = ({ ledger, pick }: Client): NonNullable<WitnessLine["receipt"]> | null => {
  const all = [...ledger.witnessed.values()].flatMap(({ receipt }) => (receipt === null ? [] : [receipt]))
  return all[pick(Math.max(1, all.length))] ?? null
}

const settle: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const decision = acknowledged(client)
  if (decision === null) return
  const line = lineOf(ledger.settled, decision.decisionId, () => ({
    outcomes: new Set<string>(),
    receipt: null,
    fresh: 0
  }))
  const outcome = pick(5) === 0 ? ("error" as const) : ("ok" as const)
  line.outcomes.add(outcome)
  const answer = yield* ask(
    client,
    "settle",
    Capture.use((capture) => capture.settle(decision.decisionId, { status: outcome, result: { outcome } }, systemHost))
  )
  if (answer === null) return
  if (!answer.done) {
    if (answer.refusal._tag !== "DecisionAlreadySettled" || line.outcomes.size < 2)
      yield* unexpected(client, "settle", answer.refusal._tag)
    return
  }
  const { duplicate, record_hash: hash, seq } = answer.value
  if (line.receipt !== null && (line.receipt.seq !== seq || line.receipt.hash !== hash))
    ledger.problems.push(`settle: ${decision.decisionId} was acknowledged at ${line.receipt.seq}, then at ${seq}`)
  line.receipt ??= { seq, hash }
  if (!duplicate) line.fresh += 1
  ledger.highestSeq = Math.max(ledger.highestSeq, seq)
})

const erase: Act = Effect.fnUntraced(function* (client) {
  const { ledger } = client
  const decision = acknowledged(client)
  if (decision === null) return
  const line = lineOf(ledger.erased, `${decision.seq} args`, () => ({ acknowledged: false }))
  const answer = yield* ask(
    client,
    "erase",
    Erasure.use((erasure) => erasure.erase({ seq: decision.seq, name: "args", reason: "retention" }, systemHost))
  )
  if (answer === null) return
  if (!answer.done && answer.refusal._tag !== "PartErased")
    return void (yield* unexpected(client, "erase", answer.refusal._tag))
  line.acknowledged = true
  if (answer.done) ledger.highestSeq = Math.max(ledger.highestSeq, answer.value.seq)
})

const gap: Act = Effect.fnUntraced(function* (client) {
  const { ledger } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const count = ledger.gaps.size + 1
  const line = lineOf(ledger.gaps, count, () => ({ tries: 0, acknowledged: 0 }))
  const at = "2026-05-01T00:00:00.000Z"
  const answer = yield* ask(
    client,
    "gap",
    Capture.use((capture) => capture.gap(agentId, { from: at, to: at, count, reason: "crash" }, systemHost)),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "gap", answer.refusal._tag))
  line.acknowledged += 1
})

const mint: Act = Effect.fnUntraced(function* (client, turn) {
  const name = `${client.name} ${turn}`
  const line = lineOf(client.ledger.keys, name, () => ({ tries: 0, acknowledged: 0, id: null, revoked: false }))
  const answer = yield* ask(
    client,
    "mint",
    IngestKeys.use((keys) => keys.mint({ name, org_unit: "ops" }, systemHost)),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "mint", answer.refusal._tag))
  line.acknowledged += 1
  line.id = answer.value.id
})

const revoke: Act = Effect.fnUntraced(function* (client) {
  const minted = [...client.ledger.keys.values()].filter(({ id }) => id !== null)
  const line = minted[client.pick(Math.max(1, minted.length))]
  if (line === undefined) return
  const answer = yield* ask(
    client,
    "revoke",
    IngestKeys.use((keys) => keys.revoke(line.id!, systemHost))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "revoke", answer.refusal._tag))
  line.revoked = true
})

const meet: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const subject = `subject ${pick(4)}`
  const answer = yield* ask(
    client,
    "meet",
    Principals.use((principals) => principals.writerFor("https://id.example", subject))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "meet", "a refusal"))
  const known = ledger.principals.get(subject)
  if (known !== undefined && known !== answer.value.id)
    ledger.problems.push(`meet: ${subject} was ${known} and is ${answer.value.id}`)
  ledger.principals.set(subject, answer.value.id)
})

const sign: Act = Effect.fnUntraced(function* (client) {
  const { ledger } = client
  const before = ledger.highestSeq
  const answer = yield* ask(
    client,
    "sign",
    Checkpointer.use((checkpointer) => checkpointer.now)
  )
  if (answer === null || !answer.done) return
  const { rootHex, size } = answer.value
  if (size <= before)
    ledger.problems.push(
      `sign: a checkpoint of ${size} records does not cover seq ${before}, which was acknowledged before`
    )
  ledger.checkpoints.push({ size, rootHex })
})

const exported = (kind: "full" | "sparse") =>
  Effect.gen(function* () {
    const packs = yield* Packs
    const { id } = yield* packs.request(
      { kind, disclose: "all", ...(kind === "sparse" ? { kinds: ["decision.witnessed"] } : {}) },
      systemHost
    )
    const chunks = yield* packs.build(id, systemHost)
    const bytes = yield* Effect.tryPromise({
      try: () => joined(chunks),
      catch: (error) => error as { readonly _tag: "StorageUnavailable" }
    })
    return { packId: id, bytes }
  })

const joined = async (chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const all: Array<Uint8Array> = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

const exportPack: Act = Effect.fnUntraced(function* (client) {
  const answer = yield* ask(client, "export", exported(client.pick(2) === 0 ? "full" : "sparse"))
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "export", answer.refusal._tag))
  client.ledger.packs.push(answer.value)
})

const announce: Act = Effect.fnUntraced(function* (client, turn) {
  const id = `${client.name}-${turn}`
  const line = lineOf(client.ledger.announced, id, () => ({ tries: 0, acknowledged: 0 }))
  const change = {
    puts: [{ collection: ANNOUNCEMENTS, id, expectedVersion: 0, body: { turn } }],
    events: [{ type: ANNOUNCED, data: { id, turn } }]
  }
  // A conflict can only be with ourselves: an earlier try landed.
  const answer = yield* ask(
    client,
    "announce",
    Storage.use((storage) => Effect.asVoid(storage.commit(change))).pipe(
      Effect.catchTag("StorageConflict", () => Effect.void)
    ),
    line
  )
  if (answer !== null) line.acknowledged += 1
})

const plainActs = {
  witness,
  settle,
  erase,
  register,
  gap,
  mint,
  revoke,
  meet,
  sign,
  export: exportPack,
  announce
} satisfies { readonly [name: string]: Act }

/** All acts by name. */
export const acts = {
  ...plainActs,
  ...webhookActs,
  ...governedActs,
  ...killActs,
  ...policyActs,
  ...breakerActs,
  ...reviewActs,
  ...standingActs,
  ...platformActs,
  ...screenActs,
  ...flowActs,
  ...toolActs,
  ...driftActs,
  ...quotaActs,
  ...monitorActs,
  ...fleetActs,
  ...planActs,
  ...documentActs
}

/** The name of an act. */
export type ActName = keyof typeof acts

/**
 * Names of the acts that older seeds choose from; those about webhooks, governed agents, the kill switch, breakers and
 * reviews are chosen after everything else.
 */
export const actNames = Object.keys(plainActs) as ReadonlyArray<ActName>
export const webhookActNames = Object.keys(webhookActs) as ReadonlyArray<ActName>
export const governedActNames = Object.keys(governedActs) as ReadonlyArray<ActName>
export const killActNames = Object.keys(killActs) as ReadonlyArray<ActName>
export const breakerActNames = Object.keys(breakerActs) as ReadonlyArray<ActName>
export const reviewActNames = [...Object.keys(reviewActs), ...Object.keys(standingActs)] as ReadonlyArray<ActName>
