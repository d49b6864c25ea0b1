/** Reads the records of a checked pack once more, as the rules take them: with what is disclosed of them. */
import { type JsonObject, LineReader, MAX_LINE_BYTES, RecordScanner } from "@flyball/evidence"
import type { PartContent, ReplayRecord } from "@flyball/core/recompute"
import { DisclosedParts } from "./disclosed-parts.ts"
import { KnownNames } from "./known-names.ts"

/** Which records are wanted, and which of their parts; the others are passed over as bytes. */
export interface Wanted {
  readonly kind: (kind: string) => boolean
  readonly part: (name: string) => boolean
}

/**
 * Hands every wanted record of a full or range pack to `take`, in order. To be asked of a pack whose integrity is `ok`.
 *
 * The parts stand behind the records, so the content is read by two readers side by side. Memory does not grow with the pack.
 *
 * - Unit: `atMs`, milliseconds since 1970 UTC.
 */
export const readPackRecords = async (content: () => AsyncIterable<Uint8Array>, wanted: Wanted, take: (record: ReplayRecord, atMs: number) => void): Promise<void> => {
  const disclosed = new DisclosedParts(content())
  const reader = new LineReader(null, MAX_LINE_BYTES)
  const scanner = new RecordScanner()
  const kinds = new KnownNames()
  const names = new KnownNames()
  const wants = new Map<string, boolean>()

  const isWanted = (kind: string): boolean => {
    const known = wants.get(kind)
    if (known !== undefined) return known
    // Kinds are few, but a hostile pack could name a new one in each record.
    if (wants.size >= MAX_KINDS) wants.clear()
    const answer = wanted.kind(kind)
    wants.set(kind, answer)
    return answer
  }
  const put = (parts: Map<string, PartContent>, name: string, isDisclosed: boolean): void => {
    parts.set(name, isDisclosed ? { state: "present", bytes: disclosed.bytes() } : withheld)
  }
  /** The parts from the first one on that lies behind what has been read. */
  const readOn = async (parts: Map<string, PartContent>, all: ReadonlyArray<string>, place: number, first: Promise<boolean>, seq: number): Promise<ReadonlyMap<string, PartContent>> => {
    put(parts, all[place]!, await first)
    for (const name of all.slice(place + 1)) put(parts, name, wanted.part(name) && await disclosed.seek({ seq, name }))
    return parts
  }
  /** A promise only where more of the pack must be read. */
  const partsOf = (all: ReadonlyArray<string>, seq: number): ReadonlyMap<string, PartContent> | Promise<ReadonlyMap<string, PartContent>> => {
    const parts = new Map<string, PartContent>()
    for (const [place, name] of all.entries()) {
      const found = wanted.part(name) ? disclosed.seek({ seq, name }) : false
      if (typeof found !== "boolean") return readOn(parts, all, place, found, seq)
      put(parts, name, found)
    }
    return parts
  }

  try {
    for await (const chunk of content()) {
      reader.feed(chunk)
      while (reader.next()) {
        const tag = reader.bytes[reader.start]
        if (tag === AFTER_RECORDS) return
        if (tag !== RECORD || scanner.scan(reader.bytes, reader.start + 2, reader.end) !== null) continue
        const kind = kinds.at(reader.bytes, scanner.kindStart, scanner.kindEnd)
        if (!isWanted(kind)) continue
        const { atMs, seq } = scanner
        const body: JsonObject = scanner.body()
        const { count, names: places } = scanner.partList
        const all = Array.from({ length: count }, (_, i) => names.at(reader.bytes, places[2 * i]!, places[2 * i + 1]!))
        const parts = count === 0 ? noParts : partsOf(all, seq)
        take({ seq, kind, body, parts: parts instanceof Promise ? await parts : parts }, atMs)
      }
    }
  } finally {
    await disclosed.end()
  }
}

const withheld: PartContent = { state: "withheld" }
const noParts: ReadonlyMap<string, PartContent> = new Map()
const MAX_KINDS = 1_000
const RECORD = 0x52
/** The S line, which a range or full pack has behind its last record. */
const AFTER_RECORDS = 0x53
