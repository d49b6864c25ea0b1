/** Watches the guard of a data folder from outside: every state that it ever takes goes into the book. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Book } from "../audit/book.ts"

/** The guard keeps its last eight files, and one takes far longer to make. */
const POLL_MS = 10

/**
 * Checks until `goesOn` is false, and once more. A numbered file must never change, and sizes must grow with the
 * numbers.
 */
export const watchGuard = async (dataDir: string, book: Book, goesOn: () => boolean): Promise<number> => {
  const seen = new Map<string, string>()
  const check = (): void => {
    for (const name of names(join(dataDir, "guard"))) {
      const text = read(join(dataDir, "guard", name))
      if (text === null) continue
      const before = seen.get(name)
      if (before !== undefined && before !== text) book.problems.push(`guard file ${name} changed`)
      if (before !== undefined) continue
      seen.set(name, text)
      const [, , size, rootHex] = text.split("\n")
      book.vouched.push({ size: Number(size), rootHex: rootHex!, by: `guard file ${name}` })
    }
  }
  while (goesOn()) {
    check()
    await pause(POLL_MS)
  }
  check()
  const states = [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => Number(text.split("\n")[2]))
  states.forEach((size, index) => {
    if (index > 0 && size < states[index - 1]!)
      book.problems.push(`the guard went back from ${states[index - 1]} to ${size}`)
  })
  return seen.size
}

const names = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder).filter((name) => /^\d{16}$/.test(name))
  } catch {
    return []
  }
}

/** Null when it was tidied away since it was listed. */
const read = (file: string): string | null => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return null
  }
}
