/**
 * Three processes run the executions of one store, and one of them is killed (SIGKILL) in their midst. Every execution
 * has one decision and one end, and each of its agents had its request, under one key however often it was sent.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Storage } from "@flyball/core"
import { readRecords } from "../simulation/checkers/checked.ts"
import { openFlows } from "./flows.ts"

/** The result of a run. */
export interface Survived {
  readonly executions: number
  /** Executions that were over when the process was killed. */
  readonly overBefore: number
  /** Requests that were sent again, with the key of the first. */
  readonly again: number
  readonly seconds: number
}

const POLL_MS = 50
const host = fileURLToPath(new URL("./flows-host.ts", import.meta.url))

const started = async (at: { readonly postgres: string }, dir: string): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [host, JSON.stringify({ at, dir })], { stdio: ["ignore", "pipe", "inherit"] })
  await Promise.race([
    once(child.stdout!, "data"),
    once(child, "close").then(() => Promise.reject(new Error("A host did not start.")))
  ])
  return child
}

/** Does it. Throws where an execution, a decision or a step was lost or doubled. */
export const killOneOfThree = async (
  at: { readonly postgres: string },
  dir: string,
  count: number
): Promise<Survived> => {
  const calls = new Map<string, number>()
  const flows = await openFlows(at, dir, (key) => void calls.set(key, (calls.get(key) ?? 0) + 1), false)
  const hosts: Array<ChildProcess> = []
  try {
    for (let index = 0; index < 3; index++) hosts.push(await started(at, dir))
    const workflow = await flows.workflow([flows.call("first"), flows.ask, flows.call("last")])
    const startedAt = performance.now()
    const ids = await Promise.all(Array.from({ length: count }, () => flows.start(workflow)))
    const open = new Set(ids)
    let overBefore: number | null = null
    while (open.size > 0) {
      for (const id of open) {
        if (overBefore === null && open.size <= count * 0.8) {
          overBefore = count - open.size
          hosts[0]!.kill("SIGKILL")
        }
        const { status, waiting } = await flows.get(id)
        if (waiting !== undefined) await flows.decide(id, waiting.id, true)
        else if (status === "completed") open.delete(id)
        else if (status === "failed" || status === "cancelled") throw new Error(`${id} is ${status}`)
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    const seconds = (performance.now() - startedAt) / 1_000
    const records = await flows.run(Storage.use(readRecords))
    const countOf = (kind: string, id: string): number =>
      records.filter((record) => record.kind === kind && record.body["execution_id"] === id).length
    for (const id of ids) {
      const [decided, finished] = [countOf("execution.decided", id), countOf("execution.finished", id)]
      const steps = ["first", "last"].map((step) => calls.get(`${id}:${step}`) ?? 0)
      if (decided !== 1 || finished !== 1 || steps.includes(0))
        throw new Error(`${id}: ${decided} decisions, ${finished} ends, calls ${steps.join(" and ")}`)
    }
    if (calls.size !== 2 * count) throw new Error(`${calls.size} keys for ${count} executions`)
    if (overBefore === null || overBefore === count) throw new Error("No process was killed in the midst of them.")
    const again = [...calls.values()].reduce((sum, times) => sum + times - 1, 0)
    return { executions: count, overBefore, again, seconds }
  } finally {
    for (const child of hosts) child.kill("SIGKILL")
    await flows.close()
  }
}
