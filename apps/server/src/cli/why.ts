/** `flyball why AGENT`: why an agent's actions are denied, in words, and what to do. Reads only. */
import {
  type Agent,
  type Evaluation,
  type ExplanationOut,
  isId,
  type KillStatus,
  type Review,
  tierConditionWords
} from "@flyball/contract"
import { Agents, Evaluations, Kill, Reviews } from "@flyball/core"
import { Effect } from "effect"
import type { HostRuntime } from "../host/open-host.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { statusSentence } from "./kill/words.ts"
import { processWorld } from "./login.ts"
import { currentSession } from "./login/session.ts"
import { sessionFile } from "./login/session-file.ts"
import { type Remote, RemoteRefused, remoteOf } from "./remote.ts"
import { withHost } from "./with-host.ts"

/** Denials that are printed. */
const LISTED = 5
const MAX_LISTED = 50

/** Facts about one agent, from the store beside the server or from the server. */
export interface Facts {
  /** By id or exact name; null where there is none. */
  readonly agent: (named: string) => Promise<Agent | null>
  readonly status: (id: string) => Promise<KillStatus>
  /** The newest evaluations of one outcome. */
  readonly evaluations: (id: string, outcome: "deny" | "halt", limit: number) => Promise<ReadonlyArray<Evaluation>>
  readonly explain: (evaluationId: string) => Promise<ExplanationOut>
  readonly openReviews: (id: string) => Promise<ReadonlyArray<Review>>
}

/** Prints the agent's state, its last denials, and what to do about each. */
export const run = command("why", async (args) => {
  const { positionals, values } = readArguments(
    args,
    { json: { type: "boolean" }, last: { type: "string" }, remote: { type: "boolean" } },
    true
  )
  const [named, more] = positionals
  if (named === undefined || more !== undefined) throw new UsageError("expected one agent: its id or exact name")
  const last = values.last ?? String(LISTED)
  if (!/^[1-9][0-9]?$/.test(last) || Number(last) > MAX_LISTED)
    throw new UsageError(`--last should be a number from 1 to ${MAX_LISTED}`)
  const print = async (facts: Facts): Promise<number> => {
    const found = await whyOf(facts, named, Number(last))
    console.log(values.json === true ? JSON.stringify(found, null, 2) : whyLines(found).join("\n"))
    return exitStatus.ok
  }
  if (values.remote !== true)
    return withHost({ readOnly: true, small: true, keyless: true }, (runtime) => print(factsOfStore(runtime)))
  const session = await currentSession(sessionFile(process.env), processWorld)
  if (session.url === null) throw new UsageError("--remote needs the server: flyball login --url URL")
  return print(factsOfServer(remoteOf(session.url, session.token)))
})

/** An agent's state and its last denials, each with its explanation; newest first. */
interface Why {
  readonly agent: Agent
  readonly kill_status: KillStatus
  readonly denials: ReadonlyArray<{ readonly evaluation: Evaluation; readonly explanation: ExplanationOut }>
  readonly open_reviews: ReadonlyArray<Review>
}

const whyOf = async (facts: Facts, named: string, last: number): Promise<Why> => {
  const agent = await facts.agent(named)
  if (agent === null)
    throw new Error(`there is no agent with the id or exact name ${JSON.stringify(named.slice(0, 200))}`)
  const found = await Promise.all(
    (["deny", "halt"] as const).map((outcome) => facts.evaluations(agent.id, outcome, last))
  )
  const newest = found
    .flat()
    .toSorted((a, b) => b.seq - a.seq)
    .slice(0, last)
  return {
    agent,
    kill_status: await facts.status(agent.id),
    denials: await Promise.all(
      newest.map(async (evaluation) => ({ evaluation, explanation: await facts.explain(evaluation.id) }))
    ),
    open_reviews: await facts.openReviews(agent.id)
  }
}

const whyLines = ({ agent, denials, kill_status: kill, open_reviews: reviews }: Why): ReadonlyArray<string> => {
  const { autonomy_tier: tier, effective_tier: effective, name, status, suspended_reason: reason } = agent
  const lacks = agent.tier_unmet.map((condition) => tierConditionWords[condition] ?? condition).join(", ")
  const called = `${name} (${agent.id})`
  return [
    `${called} is ${status}${status === "suspended" && reason !== null ? `, because of ${reason}` : ""}, at tier ` +
      `${tier}${effective === tier ? "" : `, and acts at ${effective}`}${lacks === "" ? "" : `. It lacks ${lacks}`}.`,
    statusSentence(called, kill),
    ...(reviews.length === 0
      ? []
      : [`${counted(reviews.length, "review")} of it ${reviews.length === 1 ? "waits" : "wait"}: flyball reviews`]),
    ...(denials.length === 0
      ? ["None of its newest evaluations was denied."]
      : [`Its last ${counted(denials.length, "denial")}, newest first:`]),
    ...denials.flatMap(({ evaluation, explanation }) => [
      `${evaluation.created_at} ${evaluation.action === null ? "an action" : JSON.stringify(evaluation.action)} ` +
        `(${evaluation.id}), by ${evaluation.matched_rule}`,
      `  ${explanation.sentence}`,
      `  To do: ${toDo(evaluation)}`
    ])
  ]
}

/** Advises what lets such an action through next time, by the rule that denied it. */
const toDo = ({
  agent_id: agent,
  activation_event: activation,
  envelope_id: envelope,
  matched_rule: rule
}: Evaluation): string => {
  if (rule.startsWith("@budget:"))
    return "wait until earlier actions leave the window, or publish a version with a larger budget."
  if (rule.startsWith("@tier_floor"))
    return "let a person review the action (require_review), or raise the tier once its conditions are met."
  switch (rule) {
    case "@killed":
      return (
        `flyball kill-status ${agent} shows the halt; when its cause is gone, flyball release ` +
        `${activation ?? "kil_…"} --reason TEXT.`
      )
    case "@suspended":
    case "@not_active":
      return `when its cause is gone, a governor activates it: POST /api/v1/agents/${agent}/activate.`
    case "@no_envelope":
      return "draft an envelope for the agent or its org unit, and let a second person publish it."
    case "@missing_signal":
    case "@invalid_signal":
      return "correct the call: the agent's program sends the signals that the envelope declares."
    case "@default":
      return `no rule covers the call: correct it, or publish a version of ${envelope ?? "the envelope"} that does.`
    default:
      return (
        `the rule is meant to stop this. If it should not, request a waiver ` +
        `(POST /api/v1/bound/envelopes/${envelope ?? "env_…"}/waivers), or publish another version.`
      )
  }
}

const factsOfStore = (runtime: HostRuntime): Facts => ({
  agent: (named) =>
    runtime.runPromise(
      isId("agent", named)
        ? Agents.use((agents) => agents.get(named)).pipe(Effect.catchTag("AgentNotFound", () => Effect.succeed(null)))
        : Agents.use((agents) => agents.find(named))
    ),
  status: (id) => runtime.runPromise(Kill.use((kill) => kill.status({ type: "agent", id }))),
  evaluations: (agent_id, outcome, limit) =>
    runtime.runPromise(
      Evaluations.use((evaluations) => evaluations.list({ agent_id, outcome, limit })).pipe(
        // None among the newest records of the agent: older ones explain nothing of tonight.
        Effect.catchTag("InvalidInput", () => Effect.succeed([]))
      )
    ),
  explain: (id) => runtime.runPromise(Evaluations.use((evaluations) => evaluations.explain(id))),
  openReviews: (agent_id) =>
    runtime.runPromise(
      Reviews.use((reviews) => reviews.list({ agent_id, status: "open", limit: REVIEWS })).pipe(
        Effect.catchTag("InvalidInput", () => Effect.succeed([]))
      )
    )
})

const factsOfServer = ({ get, post }: Remote): Facts => {
  const list = async <A>(
    path: string,
    query: { readonly [name: string]: string | number }
  ): Promise<ReadonlyArray<A>> => {
    const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
    const answer = await get(`/api/v1/${path}?${new URLSearchParams(given)}`).catch((cause: unknown) => {
      if (cause instanceof RemoteRefused && cause.status === 422) return []
      throw cause
    })
    return answer as ReadonlyArray<A>
  }
  return {
    agent: async (named) => {
      if (!isId("agent", named)) return (await list<Agent>("agents", { name: named }))[0] ?? null
      return get(`/api/v1/agents/${named}`).catch((cause: unknown) => {
        if (cause instanceof RemoteRefused && cause.status === 404) return null
        throw cause
      }) as Promise<Agent | null>
    },
    status: (id) => get(`/api/v1/bound/kill/status?target_type=agent&target_id=${id}`) as Promise<KillStatus>,
    evaluations: (agent_id, outcome, limit) => list("bound/evaluations", { agent_id, outcome, limit }),
    explain: (id) => post(`/api/v1/bound/evaluations/${id}/explain`) as Promise<ExplanationOut>,
    openReviews: (agent_id) => list("bound/reviews", { agent_id, status: "open", limit: REVIEWS })
  }
}

/** Open reviews that are counted. */
const REVIEWS = 100
