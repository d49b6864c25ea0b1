/**
 * A spool on disk, for Node, Deno and Bun: lines of JSON in segments. An entry is on disk before `add` resolves, and a
 * segment is deleted when all of it was acknowledged.
 *
 * After a crash the rest of a segment is sent again: the server knows each entry by its `client_ref` and answers with
 * the first receipt. One process at a time uses a folder. A line that cannot be read, as one that was cut off, counts
 * in a gap `crash`.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync
} from "node:fs"
import { type FileHandle, open, rename } from "node:fs/promises"
import { join } from "node:path"
import { type Entry, type UnreportedGap, withLoss } from "./entry.ts"
import { defaultBounds, entryBytes, type Spool, type SpoolBounds } from "./spool.ts"

/** Size at which a new segment begins. Unit: bytes. */
const SEGMENT_BYTES = 1_048_576

interface Segment {
  readonly path: string
  entries: number
  removed: number
}

/**
 * Opens a spool in a folder, which is created with mode 0700 if it does not exist.
 *
 * - Fails: throws where the folder is a link, where another user owns it or can write to it, and where it is in use.
 *   What lies there is sent under this process's key.
 */
export const fileSpool = (dir: string, bounds: SpoolBounds = defaultBounds): Spool => {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  requireOwn(dir)
  const unlock = lock(dir)
  try {
    return openFolder(dir, bounds, unlock)
  } catch (cause) {
    // Who opens it again, once the cause is gone, must find it free.
    unlock()
    throw cause
  }
}

const openFolder = (dir: string, bounds: SpoolBounds, unlock: () => void): Spool => {
  const waiting: Array<{ readonly entry: Entry; readonly bytes: number }> = []
  const segments: Array<Segment> = []
  let bytes = 0
  let gaps = readGaps(dir)
  for (const name of readdirSync(dir)
    .filter((one) => /^\d{12}\.ndjson$/.test(one))
    .sort()) {
    const { entries, lost } = readLines(join(dir, name))
    if (lost.length > 0) {
      // In this order: a crash in between counts a loss twice, and forgets none.
      writeWhole(join(dir, GAPS), JSON.stringify((gaps = lost.reduce(withLoss, gaps))))
      writeWhole(join(dir, name), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""))
    }
    if (entries.length === 0) {
      rmSync(join(dir, name))
      continue
    }
    segments.push({ path: join(dir, name), entries: entries.length, removed: 0 })
    for (const entry of entries) {
      const size = entryBytes(entry)
      waiting.push({ entry, bytes: size })
      bytes += size
    }
  }
  let next = segments.length === 0 ? 1 : Number(/(\d{12})\.ndjson$/.exec(segments.at(-1)!.path)![1]) + 1
  let current: { readonly segment: Segment; readonly handle: FileHandle; bytes: number } | null = null
  let last: Promise<unknown> = Promise.resolve()

  /** One act on the files after the other. */
  const inTurn = <A>(act: () => Promise<A>): Promise<A> => {
    const turn = last.then(act, act)
    last = turn.catch(() => undefined)
    return turn
  }

  const writable = async () => {
    if (current !== null && current.bytes < SEGMENT_BYTES) return current
    await current?.handle.close()
    const segment: Segment = { path: join(dir, `${String(next++).padStart(12, "0")}.ndjson`), entries: 0, removed: 0 }
    const handle = await open(segment.path, "ax", 0o600)
    segments.push(segment)
    return (current = { segment, handle, bytes: 0 })
  }

  return {
    add: (entry) =>
      inTurn(async () => {
        const line = `${JSON.stringify(entry)}\n`
        const size = Buffer.byteLength(line)
        if (waiting.length >= bounds.maxEntries || bytes + size > bounds.maxBytes) return false
        const file = await writable()
        try {
          await file.handle.appendFile(line)
          await file.handle.datasync()
        } catch (cause) {
          // What a full disk took of the line would spoil the next one.
          current = null
          await file.handle.truncate(file.bytes).catch(() => undefined)
          await file.handle.close().catch(() => undefined)
          // One that took nothing would stay: a file for each loss, on a disk that is full.
          if (file.segment.entries === 0) {
            segments.pop()
            rmSync(file.segment.path, { force: true })
          }
          throw cause
        }
        file.bytes += size
        file.segment.entries++
        waiting.push({ entry, bytes: size })
        bytes += size
        return true
      }),
    first: async (count) => waiting.slice(0, count).map(({ entry }) => entry),
    remove: (count) =>
      inTurn(async () => {
        for (const one of waiting.splice(0, count)) bytes -= one.bytes
        for (let left = count; left > 0 && segments.length > 0;) {
          const segment = segments[0]!
          const part = Math.min(left, segment.entries - segment.removed)
          segment.removed += part
          left -= part
          if (segment.removed < segment.entries) break
          if (current?.segment === segment) {
            await current.handle.close()
            current = null
          }
          rmSync(segment.path, { force: true })
          segments.shift()
        }
      }),
    size: () => waiting.length,
    gaps: () => gaps,
    setGaps: (next) =>
      inTurn(async () => {
        gaps = next
        const path = join(dir, GAPS)
        const file = await open(`${path}.new`, "w", 0o600)
        try {
          await file.writeFile(JSON.stringify(next))
          await file.datasync()
        } finally {
          await file.close()
        }
        await rename(`${path}.new`, path)
      }),
    close: () =>
      inTurn(async () => {
        await current?.handle.close()
        current = null
        unlock()
      })
  }
}

/** The file of the gaps to report. */
const GAPS = "gaps.json"

/** Replaces a file as a whole. */
const writeWhole = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}

/** Fails: throws where somebody else may decide what lies in the folder. Windows has no such modes. */
const requireOwn = (dir: string): void => {
  const refuse = (why: string): never => {
    throw new Error(`The spool folder ${dir} ${why}. Name a folder of this user alone, with mode 0700.`)
  }
  const { mode, uid }: Stats = lstatSync(dir.replace(/(?<=.)[/\\]+$/, ""))
  if ((mode & 0o170000) === 0o120000) refuse("is a link")
  const user = process.getuid?.()
  if (user === undefined) return
  if (uid !== user) refuse(`belongs to user ${uid}`)
  if ((mode & 0o022) !== 0) refuse(`can be written by others (mode ${(mode & 0o777).toString(8)})`)
}

/** Entries of a segment, and a loss for each line that is none: a crash cut it off, or something else wrote it. */
const readLines = (
  path: string
): { readonly entries: ReadonlyArray<Entry>; readonly lost: ReadonlyArray<UnreportedGap> } => {
  const entries: Array<Entry> = []
  const lost: Array<UnreportedGap> = []
  const at = statSync(path).mtime.toISOString()
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "") continue
    const entry = parsed(line)
    if (isEntry(entry)) entries.push(entry)
    else {
      // Most of a line is there as a rule, and its agent stands at its beginning.
      const agentId = /"agentId":"([^"]{1,64})"/.exec(line)?.[1] ?? entries.at(-1)?.agentId ?? ""
      lost.push({ agentId, from: at, to: at, count: 1, reason: "crash" })
    }
  }
  return { entries, lost }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** True for an entry with all that sending it relies on. */
const isEntry = (value: unknown): value is Entry => {
  const entry = value as { readonly [name: string]: any } | null
  if (typeof entry?.["agentId"] !== "string") return false
  const isDecision = typeof entry["decision"]?.client_ref === "string"
  const isSettled = typeof entry["settlement"]?.status === "string"
  switch (entry["kind"]) {
    case "decision":
      return isDecision
    case "outcome":
      return isDecision && isSettled
    case "settle":
      return isSettled && typeof entry["decisionId"] === "string" && typeof entry["clientRef"] === "string"
    default:
      return false
  }
}

const readGaps = (dir: string): ReadonlyArray<UnreportedGap> => {
  const path = join(dir, GAPS)
  const text = readText(path)
  if (text === "") return []
  const gaps = parsed(text)
  const known = Array.isArray(gaps) ? gaps : [gaps]
  const at = statSync(path).mtime.toISOString()
  // A gap that cannot be read is one loss at least.
  const unreadable: UnreportedGap = { agentId: "", from: at, to: at, count: 1, reason: "crash" }
  return known.reduce((all, one) => withLoss(all, isGap(one) ? one : unreadable), [] as ReadonlyArray<UnreportedGap>)
}

const isGap = (value: unknown): value is UnreportedGap => {
  const gap = value as Partial<UnreportedGap> | null
  return (
    [gap?.agentId, gap?.from, gap?.to, gap?.reason].every((one) => typeof one === "string") &&
    Number.isSafeInteger(gap?.count)
  )
}

/** Takes the folder for this process. A lock whose process is gone is taken over. */
const lock = (dir: string): (() => void) => {
  const path = join(dir, "lock")
  const holder = Number(readText(path))
  if (holder > 0 && holder !== process.pid && isAlive(holder))
    throw new Error(`The spool folder ${dir} is used by process ${holder}. Give each process a folder of its own.`)
  if (held.has(path)) throw new Error(`The spool folder ${dir} is open in this process already.`)
  writeFileSync(path, String(process.pid), { mode: 0o600 })
  held.add(path)
  return () => {
    held.delete(path)
    rmSync(path, { force: true })
  }
}

/** Folders that this process has open. */
const held = new Set<string>()

const readText = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as { readonly code?: string }).code === "EPERM"
  }
}
