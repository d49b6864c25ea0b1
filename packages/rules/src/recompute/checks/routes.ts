/** Recomputes plans of routes: totals and rules by the checker, and the plan itself from its search. */
import {
  canonicalBytes,
  type Crypto,
  type RoutePlanCompletedBody,
  type RoutePlanFailedBody,
  toHex
} from "@flyball/evidence"
import { partValue } from "../../records/part-json.ts"
import type { PartContent, ReplayRecord } from "../../records/record.ts"
import { checkPlan } from "../../routing/check.ts"
import { routingMatrix } from "../../routing/matrix.ts"
import { planBytes, readPlan, readProblem } from "../../routing/part-forms.ts"
import type { RoutePlan, RoutingProblem } from "../../routing/problem.ts"
import { replayRoutes } from "../../routing/anneal.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** The rule that ends plans whose process ended. */
export const ROUTES_WRITER = "policy:routes"

/** Evaluations that are remembered until an agent dispatches. */
const MAX_EVALUATIONS = 10_000

/** Steps of searches that one recomputation repeats: two minutes' work or so. */
const MAX_STEPS = 6_000_000

const wrong = (reason: string): Problem => problem("route_mismatch", reason)

/** The plans of a chain. It keeps how much work they were, and which plans agents may dispatch. */
export class RouteJudge {
  readonly #sha256: Crypto["sha256"]
  readonly #evaluations = new Map<string, readonly [agentId: string, args: string]>()
  readonly #plans = new Map<string, readonly [digest: string, args: string]>()
  #knowsAll: boolean
  #left: number

  constructor(sha256: Crypto["sha256"], fromGenesis: boolean, maxSteps: number = MAX_STEPS) {
    this.#sha256 = sha256
    this.#knowsAll = fromGenesis
    this.#left = maxSteps
  }

  /** Judges a record that matches the catalogue. */
  take(record: ReplayRecord): Problem | null {
    const { body, kind } = record
    if (kind === "evaluation.made") {
      if (this.#evaluations.size >= MAX_EVALUATIONS) {
        this.#evaluations.clear()
        this.#knowsAll = false
      }
      if (String(body["outcome"]).startsWith("allow"))
        this.#evaluations.set(String(body["evaluation_id"]), [String(body["agent_id"]), String(body["action_digest"])])
      return null
    }
    if (kind === "route_plan.dispatched") return this.#dispatched(record)
    if (kind === "route_plan.completed") return this.#completed(record)
    const { code, writer } = body as unknown as RoutePlanFailedBody
    return (code === "interrupted") === (writer === ROUTES_WRITER)
      ? null
      : problem("writer_mismatch", `${writer} does not end a plan as ${code}.`)
  }

  #dispatched({ body }: ReplayRecord): Problem | null {
    const [digest, facts] = this.#plans.get(String(body["plan_id"])) ?? []
    if (digest !== undefined && digest !== body["plan_digest"])
      return wrong(`The plan has the digest ${digest}; the record says another.`)
    const [agentId, args] = this.#evaluations.get(String(body["evaluation_id"])) ?? []
    if (agentId === undefined ? this.#knowsAll : agentId !== body["agent_id"])
      return problem("reference_mismatch", "No evaluation of the agent before it allows the dispatch.")
    const isOfPlan = facts === undefined || args === undefined || facts === args
    return isOfPlan ? null : wrong("Its agent was evaluated for other routes.")
  }

  #completed({ body: said, parts }: ReplayRecord): Problem | null {
    const body = said as unknown as RoutePlanCompletedBody
    this.#plans.set(body.plan_id, [body.plan_digest, toHex(this.#sha256(canonicalBytes(factsOf(body))))])
    const plan = this.#read(parts.get("plan"), body.plan_digest, readPlan)
    const of = this.#read(parts.get("problem"), body.problem_digest, readProblem)
    if (plan === "wrong" || of === "wrong")
      return wrong("A part is not what its digest says, or holds no plan or problem.")
    const fault =
      (plan === null ? null : differs(body, totalsOf(plan))) ??
      (of === null ? null : differs(body, sizesOf(of))) ??
      (plan === null || of === null ? null : checkPlan(of, routingMatrix(of.distances), plan))
    if (fault !== null) return wrong(fault)
    if (of === null) return problem("withheld", "The problem is not shown: nobody can plan again.")
    const { iterations, schedule, seed } = body
    this.#left -= iterations
    if (this.#left < 0) return { ...problem("withheld", "Replay spent its work on earlier plans."), because: "budget" }
    const again = replayRoutes(of, routingMatrix(of.distances), { seed, iterations, schedule }, iterations)
    if (toHex(this.#sha256(planBytes(again))) !== body.plan_digest) return wrong("The search gives another plan.")
    return plan === null ? problem("withheld", "The plan is not shown.") : null
  }

  /** The value of a part; null where it is not shown. */
  #read<A>(part: PartContent | undefined, digest: string, read: (value: unknown) => A | null): A | null | "wrong" {
    if (part?.state !== "present") return null
    const value = partValue(part)
    const found = value.state === "known" ? read(value.value) : null
    return found === null || toHex(this.#sha256(part.bytes)) !== digest ? "wrong" : found
  }
}

/** The totals of a plan in the body of a record. */
export const totalsOf = ({ cost, driving, metres, routes, unassigned }: RoutePlan) => ({
  cost,
  driving_seconds: driving,
  metres,
  routes: routes.length,
  unassigned: unassigned.length
})

/** The arguments that a dispatch is evaluated over. Each job is a stop, or left out. */
const factsOf = (of: RoutePlanCompletedBody) => ({
  plan_id: of.plan_id,
  stops: of.jobs - of.unassigned,
  distance_m: of.metres,
  driving_s: of.driving_seconds,
  vehicles: of.routes,
  unassigned: of.unassigned
})

const sizesOf = ({ distances, jobs, vehicles }: RoutingProblem) => ({
  distance_source: distances.source,
  jobs: jobs.length,
  vehicles: vehicles.length
})

const differs = (body: RoutePlanCompletedBody, of: Partial<RoutePlanCompletedBody>): string | null => {
  const found = Object.entries(of).find(([name, value]) => body[name as keyof RoutePlanCompletedBody] !== value)
  return found === undefined ? null : `${found[0]} is ${String(found[1])}; the record says another.`
}
