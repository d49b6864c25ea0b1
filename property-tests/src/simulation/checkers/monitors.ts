/** Monitors: inferences are kept as often as they were taken, and alerts begin and end one after the other. */
import { MONITORS, unitOwner } from "@flyball/core"
import { Effect } from "effect"
import { INFERENCES, monitorsOf } from "../../../../packages/platform/src/monitoring/document.ts"
import { AlertJudge } from "../../../../packages/rules/src/recompute/checks/alerts.ts"
import type { Checker, ReadRecord } from "./checked.ts"

/** More than any run keeps. */
const MOST = 1_000

/** See the file's first line. */
export const monitorsChecker: Checker = ({ ledger, ports, records }) =>
  Effect.gen(function* () {
    const problems: Array<string> = []
    const kept = yield* ports.storage.range(INFERENCES, "received", { limit: MOST })
    const taken = Map.groupBy(kept, ({ body }) => (body as any).columns.inference_id[0] as string)
    for (const [call, { acknowledged, count, tries }] of ledger.inferences) {
      const sum = (taken.get(call) ?? []).reduce((all, { body }) => all + Number(body["count"]), 0)
      if (sum < acknowledged * count || sum > tries * count || sum % count !== 0)
        problems.push(
          `${sum} inferences of ${call} are kept; ${count} were sent ${tries} times and taken ${acknowledged} times`
        )
    }
    const own = records.filter(({ kind }) => kind === "monitor.changed" || kind.startsWith("alert."))
    const judge = new AlertJudge(true)
    for (const { body, kind, seq } of own) {
      const found = judge.take({ seq, kind, body, parts: new Map() } as never)
      // Definitions are parts, which are not read here: nothing of the counts depends on them.
      if (found !== null && found.verdict !== "withheld") problems.push(`record ${seq} is ${JSON.stringify(found)}`)
    }
    const of = Map.groupBy(own, ({ body }) => String(body["monitor_id"]))
    const tried = [...ledger.monitors.values()].reduce((sum, { tries }) => sum + tries, 0)
    if (of.size > tried) problems.push(`${of.size} monitors were made, and ${tried} were wanted`)
    for (const { id } of ledger.monitors.values())
      if (id !== "" && !of.has(id)) problems.push(`${id} was acknowledged and never made`)
    let active = 0
    for (const [id, course] of of) {
      const { isActive, open, problems: found } = walked(id, course)
      problems.push(...found)
      if (isActive) active++
      if (isActive && ledger.unwatched.has(id)) problems.push(`${id} was deleted, and is not`)
      const document = yield* ports.storage.get(MONITORS, id)
      const shown = (document?.body as any)?.state.alert?.id ?? null
      if (shown !== open) problems.push(`${id} shows the alert ${shown}, and the records have ${open}`)
    }
    const [places = 0] = yield* ports.storage.counters([monitorsOf(unitOwner("ops"))])
    if (places !== active) problems.push(`${places} monitors are counted, and ${active} are there`)
    return problems.map((problem) => `monitors: ${problem}`)
  })

/** Goes through the records of one monitor: made, alerts one after the other, deleted, and nothing more. */
const walked = (id: string, course: ReadonlyArray<ReadRecord>) => {
  const problems: Array<string> = []
  let [open, isActive]: [string | null, boolean] = [null, false]
  for (const [at, { body, kind, seq }] of course.entries()) {
    const alert = String(body["alert_id"])
    if (kind === "monitor.changed" ? (body["status"] === "active") !== (at === 0) : !isActive)
      problems.push(`${id} has ${kind} at ${seq} ${at === 0 ? "before it was made" : "after its end"}`)
    if (kind === "monitor.changed") isActive = body["status"] === "active"
    if (kind === "alert.triggered") {
      if (open !== null) problems.push(`${id} has two open alerts at ${seq}`)
      open = alert
    }
    if (kind === "alert.resolved") {
      if (open !== alert) problems.push(`${alert} of ${id} ends at ${seq}, and ${open} is open`)
      open = null
    }
  }
  if (!isActive && open !== null) problems.push(`${id} is deleted, and ${open} is open`)
  return { isActive, open, problems }
}
