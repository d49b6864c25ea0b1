/**
 * A bounded queue of decisions until the server has acknowledged them. A decision without room is refused, and the
 * recorder must report a gap.
 */
import type { Entry, UnreportedGap } from "./entry.ts"

/** A bounded queue of entries. Entries are removed in the order in which they were added. */
export interface Spool {
  /** Adds an entry; false where there is no room. Resolves when it is kept as durably as this spool keeps anything. */
  readonly add: (entry: Entry) => Promise<boolean>
  /** The oldest entries, up to this number. They stay until they are removed. */
  readonly first: (count: number) => Promise<ReadonlyArray<Entry>>
  /** Removes the oldest entries. */
  readonly remove: (count: number) => Promise<void>
  readonly size: () => number
  /** The gaps to report, kept beside the entries. */
  readonly gaps: () => ReadonlyArray<UnreportedGap>
  readonly setGaps: (gaps: ReadonlyArray<UnreportedGap>) => Promise<void>
  readonly close: () => Promise<void>
}

/** Bounds of a spool. `maxBytes` counts entries as JSON. */
export interface SpoolBounds {
  readonly maxBytes: number
  readonly maxEntries: number
}

/** About 16 MiB, or 20,000 decisions of median size. */
export const defaultBounds: SpoolBounds = { maxBytes: 16 * 1_048_576, maxEntries: 20_000 }

/** A spool in memory. A crash loses its entries; `fileSpool` keeps them. */
export const memorySpool = ({ maxBytes, maxEntries }: SpoolBounds = defaultBounds): Spool => {
  const waiting: Array<{ readonly entry: Entry; readonly bytes: number }> = []
  let bytes = 0
  let gaps: ReadonlyArray<UnreportedGap> = []
  return {
    add: async (entry) => {
      const size = entryBytes(entry)
      if (waiting.length >= maxEntries || bytes + size > maxBytes) return false
      waiting.push({ entry, bytes: size })
      bytes += size
      return true
    },
    first: async (count) => waiting.slice(0, count).map(({ entry }) => entry),
    remove: async (count) => {
      for (const one of waiting.splice(0, count)) bytes -= one.bytes
    },
    size: () => waiting.length,
    gaps: () => gaps,
    setGaps: async (next) => void (gaps = next),
    close: async () => undefined
  }
}

const encoder = new TextEncoder()

/** Bytes of an entry as JSON. */
export const entryBytes = (entry: Entry): number => encoder.encode(JSON.stringify(entry)).length
