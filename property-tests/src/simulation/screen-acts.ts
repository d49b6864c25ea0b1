/** Acts on fairness screens, noted in the ledger. Every number is a choice of the seed. */
import { Capture, FairnessScreens, systemHost } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ask, unexpected } from "./client.ts"
import { agentOf } from "./governed-acts.ts"

/** Groups that decisions are of. */
export const TEAMS = 3

/** An application of some team, whose reference names the team. */
const apply: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const team = pick(TEAMS)
  const ref = `team-${team}-${client.name}/${turn}`
  const line = ledger.decision(agentId, ref)
  line.contents.add(ref)
  const decision = {
    client_ref: ref,
    kind: "other" as const,
    action: "apply",
    status: pick(4) === 0 ? ("denied" as const) : ("intended" as const),
    args: { content: ref },
    labels: { team }
  }
  const answer = yield* ask(
    client,
    "apply",
    Capture.use((capture) => capture.witness(agentId, [decision], systemHost))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "apply", answer.refusal._tag))
  const [receipt] = answer.value.receipts
  line.receipt ??= { decisionId: receipt!.decision_id, seq: receipt!.seq, hash: receipt!.record_hash, content: ref }
  ledger.highestSeq = Math.max(ledger.highestSeq, receipt!.seq)
})

/** Screens all applications so far, by what became of them. */
const screen: Act = Effect.fnUntraced(function* (client) {
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const answer = yield* ask(
    client,
    "screen",
    FairnessScreens.use((screens) =>
      screens.screen(
        { agent_id: agentId, group: "/team", action: "apply", outcome: { source: "status", positive: ["ok"] } },
        systemHost
      )
    )
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "screen", answer.refusal._tag))
  client.ledger.screens.push(answer.value.id)
  client.ledger.highestSeq = Math.max(client.ledger.highestSeq, answer.value.seq)
})

/** The acts by name. */
export const screenActs = { apply, screen } satisfies { readonly [name: string]: Act }
