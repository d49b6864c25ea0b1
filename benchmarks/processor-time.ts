/** Processor time of programs that a benchmark started, all their threads. Linux only: elsewhere nothing is known. */
import { readdirSync, readFileSync } from "node:fs"

/** Unit: microseconds so far, of one process; 0 where it is gone or cannot be seen. */
export const processUs = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce(
      (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1_000,
      0
    )
  } catch {
    return 0
  }
}

/**
 * Begins to count processes of this name that this one started, directly or not. The answer tells what they used since.
 *
 * - Unit: microseconds. What those used that ended meanwhile is lost.
 */
export const countStarted = (name: string): (() => number) => {
  const before = startedUs(name)
  return () => [...startedUs(name)].reduce((sum, [pid, us]) => sum + us - (before.get(pid) ?? 0), 0)
}

const startedUs = (name: string): ReadonlyMap<number, number> => {
  const parents = new Map<number, number>()
  const named: Array<number> = []
  for (const pid of numbersIn("/proc")) {
    const status = statusOf(pid)
    if (status === null) continue
    parents.set(pid, status.parent)
    if (status.name === name) named.push(pid)
  }
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === process.pid || isOurs(parents.get(pid)))
  return new Map(named.filter(isOurs).map((pid) => [pid, processUs(pid)]))
}

const numbersIn = (folder: string): ReadonlyArray<number> => {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** The name stands in brackets and may hold any. */
const statusOf = (pid: number): { readonly name: string; readonly parent: number } | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    const end = text.lastIndexOf(")")
    return { name: text.slice(text.indexOf("(") + 1, end), parent: Number(text.slice(end + 2).split(" ")[1]) }
  } catch {
    return null
  }
}
