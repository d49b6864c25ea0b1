/** Reads the records of a checked pack once more, as the rules take them: with what is disclosed of them. */
import { type JsonObject, LineReader, MAX_LINE_BYTES, RecordScanner } from "@flyball/evidence"
import type { PartContent, ReplayRecord } from "@flyball/core/recompute"
import { DisclosedParts } from "./disclosed-parts.ts"

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
  const kinds = new Map<string, boolean>()

  const isWanted = (kind: string): boolean => {
    const known = kinds.get(kind)
    if (known !== undefined) return known
    // Kinds are few, but a hostile pack could name a new one in each record.
    if (kinds.size >= MAX_KINDS) kinds.clear()
    const answer = wanted.kind(kind)
    kinds.set(kind, answer)
    return answer
  }
  const partsOf = async (names: ReadonlyArray<string>, seq: number): Promise<ReadonlyMap<string, PartContent>> => {
    const parts = new Map<string, PartContent>()
    for (const name of names) {
      const found = wanted.part(name) ? disclosed.seek({ seq, name }) : false
      parts.set(name, (typeof found === "boolean" ? found : await found) ? { state: "present", bytes: disclosed.bytes() } : withheld)
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
        const kind = scanner.kind()
        if (!isWanted(kind)) continue
        const { atMs, seq } = scanner
        const body: JsonObject = scanner.body()
        const names = scanner.partCount === 0 ? [] : scanner.parts().map(({ name }) => name)
        take({ seq, kind, body, parts: names.length === 0 ? noParts : await partsOf(names, seq) }, atMs)
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
