/**
 * Plans of routes: each ends once, as everybody was answered, with an event and routes that the checker passes; one
 * that is dispatched has one act on record, and no other has any.
 */
import { ROUTE_PLANS } from "@flyball/core"
import { fromUtf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { isOver, storedPlan } from "../../../../packages/platform/src/fleet/document.ts"
import { checkPlan, readPlan, readProblem, routingMatrix } from "../../../../packages/rules/src/index.ts"
import { type Checker, recordsBy } from "./checked.ts"

/** More than any run makes. */
const limit = 1_000

/** See the file's first line. */
export const plansChecker: Checker = ({ ledger, ports: { storage }, records }) =>
  Effect.gen(function* () {
    const problems: Array<string> = []
    const plans = (yield* storage.list(ROUTE_PLANS, { limit })).map(storedPlan)
    const tried = [...ledger.plansWanted.values()].reduce((sum, { tries }) => sum + tries, 0)
    if (plans.length > tried) problems.push(`${plans.length} plans were made, and ${tried} were wanted`)
    const byPlan = (kind: string) => recordsBy(records, `route_plan.${kind}`, ({ body }) => String(body["plan_id"]))
    const [completed, failed, dispatched] = [byPlan("completed"), byPlan("failed"), byPlan("dispatched")]
    const acts = recordsBy(records, "decision.witnessed", ({ body }) =>
      body["action"] === "fleet.dispatch" ? String(body["run_id"]) : ""
    )
    const types = ["routes.completed", "routes.failed"]
    const events = yield* storage.outbox.events({ types, limit })
    for (const { body, id } of plans) {
      const own = [...(completed.get(id) ?? []), ...(failed.get(id) ?? [])]
      const reported = events.filter(({ data }) => data["id"] === id)
      if (!isOver(body)) problems.push(`${id} is still ${body.status}`)
      if (own.length !== 1) problems.push(`${id} ends ${own.length} times on record`)
      if (reported.length !== 1) problems.push(`${id} has ${reported.length} events of its end`)
      if (body.failure === "not_valid") problems.push(`the routes of ${id} break a rule`)
      const [end] = own
      if (end === undefined) continue
      if (
        (end.kind === "route_plan.completed") !== (body.plan !== null) ||
        body.planDigest !== (end.body["plan_digest"] ?? null)
      )
        problems.push(`${id} is ${body.status}, and its record says otherwise`)
      const parts = new Map((yield* storage.parts([end.seq])).map(({ bytes, name }) => [name, bytes]))
      const [found, posed] = ["plan", "problem"].map((name) => parts.get(name) ?? null)
      if (found == null || posed == null) continue
      const problem = readProblem(JSON.parse(fromUtf8(posed)!))!
      const fault = checkPlan(problem, routingMatrix(problem.distances), readPlan(JSON.parse(fromUtf8(found)!))!)
      if (fault !== null) problems.push(`the routes of ${id} break a rule: ${fault}`)
      if (createHash("sha256").update(found).digest("hex") !== body.planDigest)
        problems.push(`the routes of ${id} are not those of its digest`)
      const act = acts.get(id) ?? []
      const sent = dispatched.get(id) ?? []
      if (sent.length !== act.length || sent.length > 1 || (sent.length === 1) !== (body.dispatch !== null))
        problems.push(`${id} is dispatched ${sent.length} times by ${act.length} acts`)
      const under = ledger.plans.get(id)?.evaluation ?? null
      if (under !== null && sent[0]?.body["evaluation_id"] !== under)
        problems.push(`the dispatch of ${id} under ${under} was acknowledged, and is not on record`)
    }
    const ends = new Map(
      plans.map(({ body, id }) => [id, `${body.status} ${body.planDigest && `sha256:${body.planDigest}`}`])
    )
    for (const [id, { end }] of ledger.plans)
      if (!ends.has(id) || (end !== null && ends.get(id) !== end))
        problems.push(`${id} was ${end ?? "queued"}, and is ${ends.get(id) ?? "gone"}`)
    return problems.map((problem) => `plans: ${problem}`)
  })
