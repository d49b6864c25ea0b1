/** Fairness screens: what was acknowledged is recorded, and counts what the records before it say. */
import { Effect } from "effect"
import { TEAMS } from "../screen-acts.ts"
import type { Checker, ReadRecord } from "./checked.ts"

/** Counts by hand, by the team in the reference of each application. */
export const screensChecker: Checker = ({ ledger, records }) =>
  Effect.sync(() => {
    const screens = records.filter(({ kind }) => kind === "fairness.screened")
    const ids = new Set(screens.map(({ body }) => body["screen_id"]))
    return [
      ...ledger.screens.flatMap((id) => (ids.has(id) ? [] : [`${id} was acknowledged and is not in the chain`])),
      ...screens.flatMap((screen) => {
        const [said, counted] = [saidBy(screen), countedBy(screen, records)]
        return said === counted ? [] : [`record ${screen.seq} says ${said}, and ${counted} are there`]
      })
    ].map((problem) => `screens: ${problem}`)
  })

const saidBy = ({ body }: ReadRecord): string => {
  const groups = body["groups"] as unknown as ReadonlyArray<{ readonly n: number; readonly positive: number }>
  return JSON.stringify(groups.map(({ n, positive }) => [n, positive]))
}

const countedBy = ({ body }: ReadRecord, records: ReadonlyArray<ReadRecord>): string => {
  const before = records.slice(0, Number(body["as_of_seq"]) + 1)
  const settled = new Map(
    before.flatMap(({ body: of, kind }) => (kind === "decision.settled" ? [[of["decision_seq"], of["status"]]] : []))
  )
  const groups = Array.from({ length: TEAMS }, () => [0, 0] as [number, number])
  for (const { body: of, kind, seq } of before) {
    if (kind !== "decision.witnessed" || of["agent_id"] !== body["agent_id"] || of["action"] !== "apply") continue
    const status = settled.get(seq) ?? of["status"]
    if (status === "intended") continue
    const group = groups[Number(String(of["client_ref"]).split("-")[1])]!
    group[0] += 1
    if (status === "ok") group[1] += 1
  }
  return JSON.stringify(groups.filter(([n]) => n > 0))
}
