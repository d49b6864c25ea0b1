/**
 * Thousands of decisions under load: executions that wait, each answered by two people at once. Every execution has one
 * decision and one end, and its agent was called once where it is a yes.
 */
import { Storage } from "@flyball/core"
import type { StoreAt } from "../crash/store-at.ts"
import { readRecords } from "../simulation/checkers/checked.ts"
import { cem, openFlows } from "./flows.ts"

/** The result of a run. */
export interface Decided {
  readonly decisions: number
  readonly completed: number
  readonly seconds: number
}

const AT_ONCE = 64
const POLL_MS = 20

/** Does it over a store. Throws where a decision was lost or doubled, or a step ran twice. */
export const decisionsUnderLoad = async (at: StoreAt, dir: string, count: number): Promise<Decided> => {
  const called = new Map<string, number>()
  const flows = await openFlows(at, dir, (key) => void called.set(key, (called.get(key) ?? 0) + 1))
  try {
    const workflow = await flows.workflow([flows.ask, flows.call("pay")])
    const startedAt = performance.now()
    /** By execution: whether what was accepted is a yes. */
    const accepted = new Map<string, boolean>()
    const one = async (number: number): Promise<void> => {
      const id = await flows.start(workflow)
      const waiting = await until(flows.get, id, ({ waiting }) => waiting !== undefined)
      const answer = (approved: boolean) =>
        approved ? flows.decide(id, waiting.waiting!.id, true) : flows.decide(id, waiting.waiting!.id, false, cem)
      const first = number % 3 > 0
      const refusals = await Promise.all([answer(first), answer(!first)])
      if (refusals.filter((refusal) => refusal === null).length !== 1) throw new Error(`${id}: ${refusals.join(", ")}`)
      accepted.set(id, refusals[0] === null ? first : !first)
      await until(flows.get, id, ({ status }) => status === "completed" || status === "failed")
    }
    let next = 0
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < count) await one(next++)
      })
    )
    const seconds = (performance.now() - startedAt) / 1_000
    const records = await flows.run(Storage.use(readRecords))
    const of = (kind: string) =>
      Map.groupBy(
        records.filter((record) => record.kind === kind),
        ({ body }) => String(body["execution_id"])
      )
    const [decided, finished] = [of("execution.decided"), of("execution.finished")]
    for (const [id, isYes] of accepted) {
      const [decisions, ends, calls] = [decided.get(id) ?? [], finished.get(id) ?? [], called.get(`${id}:pay`) ?? 0]
      const isRight = decisions[0]?.body["approved"] === isYes
      const isOver = ends[0]?.body["status"] === (isYes ? "completed" : "failed")
      if (decisions.length !== 1 || ends.length !== 1 || !isRight || !isOver || calls !== (isYes ? 1 : 0))
        throw new Error(`${id}: ${decisions.length} decisions, ${ends.length} ends, ${calls} calls, ${isRight}`)
    }
    if (accepted.size !== count) throw new Error(`${accepted.size} of ${count} executions were answered`)
    return { decisions: count, completed: [...accepted.values()].filter(Boolean).length, seconds }
  } finally {
    await flows.close()
  }
}

const until = async <A>(read: (id: string) => Promise<A>, id: string, isThere: (shown: A) => boolean): Promise<A> => {
  for (;;) {
    const shown = await read(id)
    if (isThere(shown)) return shown
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
