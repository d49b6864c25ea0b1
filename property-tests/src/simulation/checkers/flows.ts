/** Executions: started, answered and ended once each, in order, and nobody is called before a yes. */
import { Effect } from "effect"
import { unitOwner } from "@flyball/core"
import { runsOf } from "../../../../packages/platform/src/workflows/document.ts"
import type { Checker, ReadRecord } from "./checked.ts"

/** See the file's first line. */
export const flowsChecker: Checker = ({ agency, ledger, ports, records }) =>
  Effect.gen(function* () {
    const of = Map.groupBy(
      records.filter(({ kind }) => kind.startsWith("execution.")),
      ({ body }) => String(body["execution_id"])
    )
    const problems: Array<string> = []
    const starts = [...ledger.starts.values()]
    const tried = starts.reduce((sum, { tries }) => sum + tries, 0)
    if (of.size > tried) problems.push(`${of.size} executions were started, and ${tried} were wanted`)
    for (const { id } of starts) if (id !== "" && !of.has(id)) problems.push(`${id} was acknowledged and never started`)
    for (const [id, own] of of) problems.push(...courseOf(id, own))
    const decisions = new Map(
      records.filter(({ kind }) => kind === "execution.decided").map((one) => [String(one.body["approval_id"]), one])
    )
    for (const [id, { acknowledged, sent }] of ledger.decided) {
      const said = decisions.get(id)?.body["approved"]
      if (acknowledged !== null && said !== acknowledged)
        problems.push(
          `the answer ${String(acknowledged)} to ${id} was acknowledged, and the records say ${String(said)}`
        )
      if (said !== undefined && !sent.has(said as boolean)) problems.push(`nobody answered ${id} as the records say`)
    }
    for (const id of ledger.cancelled)
      if (of.get(id)?.at(-1)?.body["status"] !== "cancelled") problems.push(`${id} was cancelled, and went on`)
    for (const { key, seq } of agency?.sent ?? []) {
      const [id, step] = key.split(":") as [string, string]
      const yes = of.get(id)?.find(({ body, kind }) => kind === "execution.decided" && body["approved"] === true)
      if (step === "last" && (yes === undefined || yes.seq > seq)) problems.push(`${key} was called before a yes`)
    }
    const [used = 0] = yield* ports.storage.counters([runsOf(unitOwner("ops"))])
    const going = [...of.values()].filter((own) => !isAtRest(own))
    if (going.length > 0) problems.push(`${going.length} executions neither end nor wait for a person`)
    if (used !== 0) problems.push(`${used} slots are held, and nothing runs`)
    return problems.map((problem) => `flows: ${problem}`)
  })

const isAtRest = (own: ReadonlyArray<ReadRecord>): boolean =>
  own.at(-1)!.kind === "execution.finished" || own.at(-1)!.kind === "execution.waiting"

/** Checks the records of one execution: started, waiting, answered, over, each at most once. */
const courseOf = (id: string, own: ReadonlyArray<ReadRecord>): ReadonlyArray<string> => {
  const course = own.map(({ kind }) => kind.slice("execution.".length)).join(" ")
  if (!/^started( waiting( decided)?)?( finished)?$/.test(course)) return [`${id} is ${course}`]
  const ended = own.find(({ kind }) => kind === "execution.finished")?.body["status"]
  const approved = own.find(({ kind }) => kind === "execution.decided")?.body["approved"]
  return ended === "completed" && approved !== true ? [`${id} is completed without a yes`] : []
}
