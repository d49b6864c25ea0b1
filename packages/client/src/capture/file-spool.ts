/**
 * A spool on disk, for Node, Deno and Bun: lines of JSON in segments. An entry is on disk before `add` resolves, and a
 * segment is deleted when all of it was acknowledged.
 *
 * After a crash the rest of a segment is sent again: the server knows each entry by its `client_ref` and answers with
 * the first receipt. One process at a time uses a folder. A last line that was cut off is dropped.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type FileHandle, open, rename } from "node:fs/promises"
import { join } from "node:path"
import type { Entry, UnreportedGap } from "./entry.ts"
import { defaultBounds, entryBytes, type Spool, type SpoolBounds } from "./spool.ts"

/** Size at which a new segment begins. Unit: bytes. */
const SEGMENT_BYTES = 1_048_576

interface Segment {
  readonly path: string
  entries: number
  removed: number
}

/** Opens a spool in a folder, which is created with mode 0700 if it does not exist. */
export const fileSpool = (dir: string, bounds: SpoolBounds = defaultBounds): Spool => {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const unlock = lock(dir)
  const waiting: Array<{ readonly entry: Entry; readonly bytes: number }> = []
  const segments: Array<Segment> = []
  let bytes = 0
  for (const name of readdirSync(dir)
    .filter((one) => /^\d{12}\.ndjson$/.test(one))
    .sort()) {
    const entries = readLines(join(dir, name))
    segments.push({ path: join(dir, name), entries: entries.length, removed: 0 })
    for (const entry of entries) {
      const size = entryBytes(entry)
      waiting.push({ entry, bytes: size })
      bytes += size
    }
  }
  let gaps = readGaps(dir)
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
        const path = join(dir, "gaps.json")
        const file = await open(`${path}.new`, "w", 0o600)
        await file.writeFile(JSON.stringify(next))
        await file.datasync()
        await file.close()
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

/** Entries of a segment; lines that are none were cut off by a crash, or written by something else. */
const readLines = (path: string): ReadonlyArray<Entry> =>
  readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const entry: unknown = line === "" ? null : JSON.parse(line)
        return isEntry(entry) ? [entry] : []
      } catch {
        return []
      }
    })

/** Whether it has what sending it relies on. */
const isEntry = (value: unknown): value is Entry => {
  const entry = value as { readonly [name: string]: any } | null
  if (typeof entry?.["agentId"] !== "string") return false
  return entry["kind"] === "decision"
    ? typeof entry["decision"]?.client_ref === "string"
    : entry["kind"] === "settle" &&
        typeof entry["decisionId"] === "string" &&
        typeof entry["clientRef"] === "string" &&
        typeof entry["settlement"]?.status === "string"
}

const readGaps = (dir: string): ReadonlyArray<UnreportedGap> => {
  try {
    const gaps: unknown = JSON.parse(readFileSync(join(dir, "gaps.json"), "utf8"))
    return Array.isArray(gaps) ? gaps.filter(isGap) : []
  } catch {
    return []
  }
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
