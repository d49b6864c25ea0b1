/** Acts on workflows, noted in the ledger. Every number is a choice of the seed. */
import { type GovernorServices, systemHost } from "@flyball/core"
import type { Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { Workflows, type WorkflowsApi } from "../../../packages/platform/src/workflows/service.ts"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { agentOf, second } from "./governed-acts.ts"
import { lineOf } from "./ledger.ts"

/** Executions at once that the plan allows: fewer than there are clients. */
const CAP = 3

/** The cast: hosts of these runs have the platform's services, which their type does not say. */
const using = <A, E>(use: (workflows: WorkflowsApi) => Effect.Effect<A, E, GovernorServices | Storage>) =>
  Workflows.use(use) as Effect.Effect<A, E, GovernorServices | Storage>

const call = (id: string, agent: string) => ({
  id,
  type: "agent" as const,
  agent,
  request: {
    url: `https://agent.example/${id}`,
    method: "POST" as const,
    body: { order: "{{inputs.order}}", amount: 1 }
  },
  signals: { tool: "pay" },
  retries: 5
})

/** A call, a person, another call: made at first sight. */
const workflowOf = Effect.fnUntraced(function* (client: Client) {
  const { ledger } = client
  if (ledger.workflow !== null) return ledger.workflow
  const agentId = yield* agentOf(client)
  if (agentId === null) return null
  const steps = [
    call("first", agentId),
    { id: "ask", type: "approval" as const, title: "Go on?" },
    call("last", agentId)
  ]
  const answer = yield* ask(
    client,
    "make workflow",
    using((workflows) => workflows.create("ops", { name: "two calls", steps }, systemHost))
  )
  if (answer === null) return null
  if (!answer.done) return yield* unexpected(client, "make workflow", answer.refusal._tag)
  return (ledger.workflow = answer.value.id)
})

const start: Act = Effect.fnUntraced(function* (client, turn) {
  const workflow = yield* workflowOf(client)
  if (workflow === null) return
  const line = lineOf(client.ledger.starts, `${client.name}/${turn}`, () => ({ tries: 0, acknowledged: 0, id: "" }))
  const answer = yield* ask(
    client,
    "start",
    using((workflows) =>
      workflows.start("ops", workflow, { order: `${client.name}/${turn}` }, { writer: systemHost, cap: CAP })
    ),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "start", answer.refusal._tag))
  line.acknowledged += 1
  line.id = answer.value.id
})

/** Some execution that was acknowledged. */
const some = ({ ledger, pick }: Client): string | null => {
  const ids = [...ledger.starts.values()].flatMap(({ id }) => (id === "" ? [] : [id]))
  return ids[pick(Math.max(1, ids.length))] ?? null
}

/** Answers what waits. Yes is likelier. */
const decide: Act = Effect.fnUntraced(function* (client) {
  const id = some(client)
  if (id === null) return
  const shown = yield* ask(
    client,
    "read execution",
    using((workflows) => workflows.get("ops", id))
  )
  if (shown === null || !shown.done || shown.value.waiting === undefined) return
  const approved = client.pick(3) > 0
  const approvalId = shown.value.waiting.id
  const line = lineOf(client.ledger.decided, approvalId, () => ({ sent: new Set<boolean>(), acknowledged: null }))
  line.sent.add(approved)
  const answer = yield* ask(
    client,
    "decide",
    using((workflows) =>
      workflows.decide("ops", id, { approved, approval_id: approvalId }, { writer: second, roles: ["reviewer"] })
    )
  )
  if (answer === null) return
  // Somebody else answered, or it was cancelled meanwhile.
  if (!answer.done) {
    if (!lateTags.has(answer.refusal._tag)) yield* unexpected(client, "decide", answer.refusal._tag)
    return
  }
  if (line.acknowledged !== null && line.acknowledged !== approved)
    client.ledger.problem(`flows: ${approvalId} was answered with both`)
  line.acknowledged = approved
})

const lateTags: ReadonlySet<string> = new Set(["ApprovalAlreadyDecided", "ExecutionNotWaiting", "ApprovalStale"])

const cancel: Act = Effect.fnUntraced(function* (client) {
  const id = some(client)
  if (id === null) return
  const answer = yield* ask(
    client,
    "cancel",
    using((workflows) => workflows.cancel("ops", id, systemHost))
  )
  if (answer === null) return
  if (answer.done) client.ledger.cancelled.add(id)
  else if (answer.refusal._tag !== "ExecutionFinal") yield* unexpected(client, "cancel", answer.refusal._tag)
})

/** The acts by name. */
export const flowActs = { start, decide, cancel } satisfies { readonly [name: string]: Act }
