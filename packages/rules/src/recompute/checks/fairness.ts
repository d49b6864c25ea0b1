/** Recomputes `fairness.screened`: counts and verdict, from the decisions of its window. Spec: decision 0074. */
import type { FairnessScreenedBody } from "@flyball/evidence"
import { readScreenPart, Screening } from "../../fairness/screen-decisions.ts"
import { partMembers } from "../../records/part-json.ts"
import type { Json, JsonMap, ReplayRecord } from "../../records/record.ts"
import { reaches } from "../../kill/reach.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import type { KeptDecisions } from "../kept-decisions.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** The state in which a screen is judged. `first`: seq of the first known record of this chain. */
interface Known {
  readonly state: GovernedState
  readonly decisions: KeptDecisions
  readonly first: number
  readonly fromGenesis: boolean
}

/** Judges a screen that matches the catalogue. */
export const judgeScreen = (record: ReplayRecord, known: Known): Problem | null => {
  const body = record.body as unknown as FairnessScreenedBody
  const wrong = wrongAgents(body, known)
  if (wrong !== null) return problem("reference_mismatch", wrong)
  if (body.to_seq > body.as_of_seq)
    return problem("fairness_mismatch", `to_seq is ${body.to_seq}, after as_of_seq, which is ${body.as_of_seq}.`)
  if (body.from_seq < known.first)
    return problem("withheld", "Decisions of the window are from before the first record here.")
  const part = partMembers(record.parts.get("screen"))
  if (part.state !== "known") return problem("withheld", "The question of the screen is not shown.")
  const said = readScreenPart(part.members)
  if (said === null || (body.source === "labels") !== (said.question.path !== null))
    return problem("fairness_mismatch", "The part holds no question as a screen asks it.")
  const decisions = known.decisions.within({
    agentIds: new Set(body.agent_ids ?? [String(body.agent_id)]),
    action: body.action ?? null,
    fromSeq: body.from_seq,
    toSeq: body.to_seq,
    asOfSeq: body.as_of_seq
  })
  if (decisions === "hidden") return problem("withheld", "The labels of a decision of the window are not shown.")
  if (decisions === "dropped")
    return { ...problem("withheld", "The window lies further back than replay keeps decisions."), because: "budget" }
  const screening = new Screening({ ...said.question, source: body.source })
  for (const decision of decisions) screening.take(decision)
  const { screened } = screening
  if (screened === null) return problem("fairness_mismatch", "The window has more groups than a screen compares.")
  const { counts, values } = screened
  if (!isSameJson(values, said.values))
    return problem("fairness_mismatch", "The values of the groups are not those of the labels.")
  const stated = record.body
  for (const name of ["base", "groups", "undefined_reason", "verdict", ...Object.keys(counts)]) {
    const [expected, found] = [(counts as unknown as JsonMap)[name], stated[name]]
    if (!isSameJson(expected ?? null, found ?? null))
      return problem("fairness_mismatch", `${name} is ${shown(expected)}; the record says ${shown(found)}.`)
  }
  return null
}

/** Members of bodies and of what is made here are in the order of their names. */
const isSameJson = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other)

const shown = (value: Json | undefined): string => (value === undefined ? "nothing" : JSON.stringify(value))

const wrongAgents = (body: FairnessScreenedBody, { fromGenesis, state }: Known): string | null => {
  const { agent_id: agentId, agent_ids: agentIds, as_of_seq: asOfSeq, org_unit_digest: unit } = body
  if ((agentId === undefined) === (agentIds === undefined) || (agentIds === undefined) !== (unit === undefined))
    return "A screen is of one agent, or of the agents of an org unit."
  if (!fromGenesis || agentIds === undefined) return null
  const missing = agentIds.find((id) => !state.agents.has(id))
  if (missing !== undefined) return `No record before it registers ${missing}.`
  for (const id of state.agents.keys()) {
    // An agent of a chain before this one may be known by the digest that its org unit had there.
    if (state.agentAt(id, asOfSeq) === null || state.agentAt(id, BEFORE_THIS_CHAIN) !== null) continue
    const { reach } = state.reachOf(id, asOfSeq)
    const isOfUnit = reaches({ type: "org_unit", id: unit! }, reach) !== null
    if (reach.orgUnitDigest !== null && isOfUnit !== agentIds.includes(id))
      return isOfUnit ? `${id} is of the org unit, and not counted.` : `${id} is of another org unit.`
  }
  return null
}

const BEFORE_THIS_CHAIN = -1
