/** Reads the records of a checked pack once more, as the rules take them: with what is disclosed of them. */
import { type JsonObject, LineReader, MAX_LINE_BYTES, RecordScanner } from "@flyball/evidence"
import type { PartContent, ReplayRecord } from "@flyball/rules"
import { DisclosedParts } from "./disclosed-parts.ts"
import { KnownNames } from "./known-names.ts"

/** Which records are wanted, and which of their parts; the others are passed over as bytes. */
export interface Wanted {
  /** Records before this seq are passed over. */
  readonly from?: number
  readonly kind: (kind: string) => boolean
  /** `beside`: the names of all parts of the record. */
  readonly part: (name: string, kind: string, beside: ReadonlyArray<string>) => boolean
}

/** A record with the state of each of its parts. */
export interface PackRecord<P> extends Omit<ReplayRecord, "parts"> {
  readonly parts: ReadonlyMap<string, P>
}

/** A reader of some records of a pack, with some of their parts. It reads no part that it does not want. */
export interface RecordReader extends Omit<Wanted, "from"> {
  /** Wants the size of every disclosed part: see {@link sizeOf}. */
  readonly sizes?: true
  /** Unit: `atMs`, milliseconds since 1970 UTC. `bytes` copies the record's own. */
  readonly take: (record: ReplayRecord, atMs: number, bytes: () => Uint8Array) => void
}

/**
 * Reads a pack of any kind once, and hands every record to each reader that wants it, in order. Precondition: the
 * integrity of the pack is `ok`.
 *
 * Memory does not grow with the pack, but holds the wanted parts of one record. Of a part whose size alone is wanted no
 * bytes are made: a record may name some hundred, of 16 MiB each.
 */
export const readPackRecords = (
  content: () => AsyncIterable<Uint8Array>,
  ...readers: ReadonlyArray<RecordReader>
): Promise<void> => {
  const byKind = new Map<string, ReadonlyArray<RecordReader>>()
  const readersOf = (kind: string): ReadonlyArray<RecordReader> => {
    const known = byKind.get(kind)
    if (known !== undefined) return known
    // Kinds are few, but a hostile pack could name a new one in each record.
    if (byKind.size >= MAX_KINDS) byKind.clear()
    const found = readers.filter((reader) => reader.kind(kind))
    byKind.set(kind, found)
    return found
  }
  const isShown = (name: string, kind: string, beside: ReadonlyArray<string>): boolean =>
    readersOf(kind).some((reader) => reader.part(name, kind, beside))
  const hasSizes = readers.some(({ sizes }) => sizes)
  return readEach<PartContent & { readonly size?: number }>(
    content,
    { kind: (kind) => readersOf(kind).length > 0, part: hasSizes ? () => true : isShown },
    (parts, kind, beside) =>
      !hasSizes || isShown(parts.name, kind, beside)
        ? { state: "present", bytes: parts.bytes() }
        : { state: "withheld", size: parts.size() },
    { state: "withheld" },
    (record, atMs, bytes) => {
      for (const reader of readersOf(record.kind)) reader.take(record, atMs, bytes)
    }
  )
}

/** How many bytes a part has; null where it is not disclosed. For readers that want sizes. */
export const sizeOf = (part: PartContent & { readonly size?: number }): number | null =>
  part.state === "present" ? part.bytes.length : (part.size ?? null)

/**
 * Hands every wanted record of a pack of any kind to `take`, in order, with what `shown` makes of each disclosed part,
 * until `take` answers false. Precondition: the integrity of the pack is `ok`.
 *
 * The parts stand behind the records, so the content is read by two readers side by side.
 */
export const readEach = async <P>(
  content: () => AsyncIterable<Uint8Array>,
  wanted: Wanted,
  shown: (parts: DisclosedParts, kind: string, beside: ReadonlyArray<string>) => P,
  hidden: P,
  take: (record: PackRecord<P>, atMs: number, bytes: () => Uint8Array) => boolean | void
): Promise<void> => {
  const { from = 0 } = wanted
  const disclosed = new DisclosedParts(content())
  const reader = new LineReader(null, MAX_LINE_BYTES)
  const scanner = new RecordScanner()
  const kinds = new KnownNames()
  const names = new KnownNames()
  const noParts = new Map<string, P>()

  const put = (
    parts: Map<string, P>,
    name: string,
    kind: string,
    beside: ReadonlyArray<string>,
    isDisclosed: boolean
  ): void => {
    parts.set(name, isDisclosed ? shown(disclosed, kind, beside) : hidden)
  }
  /** The parts from the first one after the records read so far. */
  const readOn = async (
    parts: Map<string, P>,
    all: ReadonlyArray<string>,
    place: number,
    first: Promise<boolean>,
    seq: number,
    kind: string
  ): Promise<ReadonlyMap<string, P>> => {
    put(parts, all[place]!, kind, all, await first)
    for (const name of all.slice(place + 1))
      put(parts, name, kind, all, wanted.part(name, kind, all) && (await disclosed.seek({ seq, name })))
    return parts
  }
  /** A promise only where more of the pack must be read. */
  const partsOf = (
    all: ReadonlyArray<string>,
    seq: number,
    kind: string
  ): ReadonlyMap<string, P> | Promise<ReadonlyMap<string, P>> => {
    const parts = new Map<string, P>()
    for (const [place, name] of all.entries()) {
      const found = wanted.part(name, kind, all) ? disclosed.seek({ seq, name }) : false
      if (typeof found !== "boolean") return readOn(parts, all, place, found, seq, kind)
      put(parts, name, kind, all, found)
    }
    return parts
  }

  const bytesOf = (): Uint8Array => reader.bytes.slice(reader.start + 2, reader.end)
  try {
    for await (const chunk of content()) {
      reader.feed(chunk)
      while (reader.next()) {
        const tag = reader.bytes[reader.start]
        if (tag === AFTER_RECORDS) return
        if (tag !== RECORD || scanner.scan(reader.bytes, reader.start + 2, reader.end) !== null) continue
        if (scanner.seq < from) continue
        const kind = kinds.at(reader.bytes, scanner.kindStart, scanner.kindEnd)
        if (!wanted.kind(kind)) continue
        const { atMs, seq } = scanner
        const body: JsonObject = scanner.body()
        const { partCount: count, partNames: places } = scanner
        const all = Array.from({ length: count }, (_, i) => names.at(reader.bytes, places[2 * i]!, places[2 * i + 1]!))
        const parts = count === 0 ? noParts : partsOf(all, seq, kind)
        const shownParts = parts instanceof Promise ? await parts : parts
        if (take({ seq, kind, body, parts: shownParts }, atMs, bytesOf) === false) return
      }
    }
  } finally {
    await disclosed.end()
  }
}

const MAX_KINDS = 1_000
const RECORD = 0x52
/** The S line, which a range or full pack has behind its last record. */
const AFTER_RECORDS = 0x53
