/**
 * Standing approvals: proposed by who approved the review, granted by another person; used no more often than they
 * count, only while they are granted and before their end, for their agent, versions and box; and in the end every host
 * lists what the records say.
 *
 * Boxes are lists of amounts here, and what asks about an amount is read off it (desk.ts).
 */
import type { StandingApproval } from "@flyball/contract"
import { Effect } from "effect"
import { needOf } from "../desk.ts"
import { type Checked, type Checker, type ReadRecord, recordsBy } from "./checked.ts"

/** Follows every standing approval by hand, record by record. */
export const standingsChecker: Checker = (world) =>
  Effect.gen(function* () {
    const { problems, states } = followed(world)
    const reasons = (yield* world.ports.storage.list("standing_approvals")).map(({ body }) => String(body["reason"]))
    return [...problems, ...acknowledged(world, reasons), ...listed(world, states)].map(
      (problem) => `standings: ${problem}`
    )
  })

/** A standing approval after one of its records. */
interface State {
  readonly id: string
  readonly agentId: string
  readonly proposedBy: string
  readonly layers: string
  readonly left: number
  readonly expiresAtMs: number
  readonly status: "proposed" | "granted" | "revoked"
}

type States = ReadonlyArray<{ readonly seq: number; readonly standings: ReadonlyMap<string, State> }>

const layersOf = (body: ReadRecord["body"]): string =>
  JSON.stringify(
    ((body["layers"] ?? []) as unknown as ReadonlyArray<{ envelope_id: string; version: number }>).map((one) => [
      one.envelope_id,
      one.version
    ])
  )

const followed = (world: Checked): { readonly states: States; readonly problems: ReadonlyArray<string> } => {
  const problems: Array<string> = []
  let standings: ReadonlyMap<string, State> = new Map()
  const states: Array<States[number]> = [{ seq: -1, standings }]
  for (const record of world.records) {
    const { kind, seq } = record
    if (!kind.startsWith("standing_approval.")) continue
    const id = String(record.body["standing_approval_id"])
    const before = standings.get(id)
    const wrong = (what: string): number => problems.push(`${id} ${what}, at ${seq}`)
    if ((kind === "standing_approval.proposed") !== (before === undefined)) wrong(`has ${kind} out of turn`)
    const after = before === undefined ? proposed(id, world, record, wrong) : changed(before, world, record, wrong)
    standings = new Map([...standings, [id, after]])
    states.push({ seq, standings })
  }
  for (const { body, kind, seq } of world.records) {
    const id = body["standing_approval_id"]
    const next = world.records[seq + 1]
    if (kind === "evaluation.made" && id !== undefined && next?.body["standing_approval_id"] !== id)
      problems.push(`${String(id)} lets ${seq} through, and its use is not recorded`)
  }
  return { problems, states }
}

const proposed = (
  id: string,
  { ledger, records }: Checked,
  { agentId, body }: ReadRecord,
  wrong: (what: string) => number
): State => {
  const [reviewId, writer] = [body["review_id"], String(body["writer"])]
  const about = records.filter((one) => one.body["review_id"] === reviewId)
  const opened = about.find(({ kind }) => kind === "review.opened")
  const answers = about.filter(({ kind }) => kind === "review.resolved")
  const isApproved = answers.some((one) => one.body["ends"] === true && one.body["resolution"] === "approve")
  const isBy = answers.some((one) => one.body["writer"] === writer && one.body["resolution"] === "approve")
  if (!isApproved || !isBy) wrong(`is proposed by ${writer}, who did not approve ${String(reviewId)}`)
  if (opened?.agentId !== agentId || opened === undefined || layersOf(opened.body) !== layersOf(body))
    wrong(`is proposed for another agent or version than ${String(reviewId)} was`)
  const box = ledger.boxes.get(id)
  const asking = new Set((box?.amounts ?? []).map((amount) => needOf(amount)?.rule))
  if (box !== undefined && (asking.size !== 1 || !asking.has(String(opened?.body["matched_rule"]))))
    wrong(`is wider than its review: ${[...asking].join(", ")} ask about its box`)
  return {
    id,
    agentId: String(agentId),
    proposedBy: writer,
    layers: layersOf(body),
    left: Number(body["count"]),
    expiresAtMs: Date.parse(String(body["expires_at"])),
    status: "proposed"
  }
}

const changed = (
  before: State,
  world: Checked,
  { body, kind, seq }: ReadRecord,
  wrong: (what: string) => number
): State => {
  const writer = String(body["writer"])
  if (kind === "standing_approval.granted") {
    if (before.status !== "proposed") wrong(`is granted, and was ${before.status}`)
    if (writer === before.proposedBy) wrong(`is granted by ${writer}, who proposed it`)
    return { ...before, status: "granted" }
  }
  if (kind === "standing_approval.revoked") {
    if (before.status === "revoked") wrong("is revoked twice")
    return { ...before, status: "revoked" }
  }
  if (kind !== "standing_approval.used") return before
  const made = world.records[seq - 1]
  if (made?.kind !== "evaluation.made" || made.body["evaluation_id"] !== body["evaluation_id"])
    wrong("is used, and not by the evaluation right before")
  else {
    const amount = world.ledger.evaluated.get(String(made.body["client_ref"]))?.amount
    if (made.agentId !== before.agentId) wrong("is used by another agent")
    if (layersOf(made.body) !== before.layers) wrong("is used under other versions")
    if (Number(made.body["as_of_ms"]) >= before.expiresAtMs) wrong("is used after its end")
    if (world.ledger.boxes.get(before.id)?.amounts.includes(amount ?? -1) !== true)
      wrong(`is used for ${amount}, outside its box`)
    if (made.body["outcome"] !== "allow") wrong(`is used, and ${String(made.body["outcome"])} came out`)
  }
  if (before.status === "revoked") wrong("is used after it was revoked")
  else if (before.status !== "granted") wrong("is used before it was granted")
  if (before.left <= 0) wrong("is used more often than it counts")
  if (body["left"] !== before.left - 1) wrong(`leaves ${String(body["left"])} of ${before.left}`)
  return { ...before, left: before.left - 1 }
}

/** Checks that what was acknowledged is there, and nothing that nobody wanted. */
const acknowledged = ({ ledger, records }: Checked, reasons: ReadonlyArray<string>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const idOf = ({ body }: ReadRecord): string => String(body["standing_approval_id"])
  const compared = [
    ["proposed", ledger.standings, Map.groupBy(reasons, (reason) => reason)],
    ["granted", ledger.standingGrants, recordsBy(records, "standing_approval.granted", idOf)],
    ["revoked", ledger.standingRevokes, recordsBy(records, "standing_approval.revoked", idOf)]
  ] as const
  for (const [what, lines, found] of compared) {
    for (const key of found.keys()) if (!lines.has(key)) problems.push(`${key} is ${what}, and nobody wanted that`)
    for (const [key, { acknowledged: sure, tries }] of lines) {
      const times = found.get(key)?.length ?? 0
      if (times < sure || times > tries)
        problems.push(`${key} is ${what} ${times} times, of ${tries} tries ${sure} were acknowledged`)
    }
  }
  return problems
}

/** In the end every host lists what the records, and the time, say. */
const listed = ({ ledger }: Checked, states: States): ReadonlyArray<string> =>
  ledger.standingLists.flatMap(({ after, before, by, fromMs, shown, toMs }) => {
    const possible = states.slice(states.findLastIndex(({ seq }) => seq <= before)).filter(({ seq }) => seq <= after)
    const last = possible.at(-1)!.standings
    return [
      ...[...last.keys()].filter((id) => !shown.some((one) => one.id === id)).map((id) => `${by} does not list ${id}`),
      ...shown.flatMap((one) => {
        const isSaid = possible.some(({ standings }) => {
          const state = standings.get(one.id)
          return (
            state !== undefined &&
            [fromMs, toMs].some((nowMs) => text(one.status, one) === text(statusOf(state, nowMs), asShown(state)))
          )
        })
        const said = last.get(one.id)
        return isSaid
          ? []
          : [
              `${by} lists ${one.id} as ${text(one.status, one)}: the records say ` +
                (said === undefined ? "nothing" : text(statusOf(said, toMs), asShown(said)))
            ]
      })
    ]
  })

type Shown = Pick<StandingApproval, "agent_id" | "left" | "proposed_by">

const asShown = ({ agentId, left, proposedBy }: State): Shown => ({ agent_id: agentId, left, proposed_by: proposedBy })

const statusOf = ({ expiresAtMs, left, status }: State, nowMs: number): string =>
  status === "revoked" ? status : left === 0 ? "used_up" : expiresAtMs <= nowMs ? "expired" : status

const text = (status: string, { agent_id, left, proposed_by }: Shown): string =>
  JSON.stringify([status, agent_id, left, proposed_by])
