/** Timeline of a pack, record by record, with the disclosed parts: a few records at a time, for people. */
import { canonicalize, formatInstant, fromUtf8, type JsonValue } from "@flyball/evidence"
import type { PackFile } from "../pack-file.ts"
import { readEach } from "../replay/pack-records.ts"

/** A record as a person reads it. */
export interface TimelineRow {
  readonly seq: number
  /** RFC 3339, UTC. */
  readonly at: string
  readonly kind: string
  /** The members of its body; what is no text is JSON. */
  readonly members: ReadonlyArray<readonly [name: string, value: string]>
  readonly parts: ReadonlyArray<TimelinePart>
}

/** A part of a record. `text`: as it is disclosed, or null where `note` says why none is shown. */
export interface TimelinePart {
  readonly name: string
  readonly text: string | null
  readonly note: string | null
}

/** Some records, and the seq to continue from; null behind the last one. */
export interface TimelinePage {
  readonly rows: ReadonlyArray<TimelineRow>
  readonly next: number | null
}

/** Which records are requested: from a seq on, at most `limit`, and only those that hold a text, in any case. */
export interface TimelineQuery {
  readonly from: number
  readonly limit: number
  readonly find: string
}

/**
 * Reads a page of the timeline of a pack of any kind. Precondition: the integrity of the pack is `ok`.
 *
 * The pack is read from its beginning to the last record of the page, so memory does not grow with it.
 */
export const timelinePage = async (
  { content }: PackFile,
  { find, from, limit }: TimelineQuery
): Promise<TimelinePage> => {
  const wanted = find.trim().toLowerCase()
  const rows: Array<TimelineRow> = []
  let next: number | null = null
  await readEach<Shown>(
    content,
    { from, kind: () => true, part: () => true },
    (parts) => (parts.size() > MAX_SHOWN_BYTES ? { size: parts.size() } : { bytes: parts.bytes() }),
    null,
    ({ body, kind, parts, seq }, atMs) => {
      const row: TimelineRow = {
        seq,
        at: formatInstant(atMs),
        kind,
        members: Object.entries(body).map(([name, value]) => [name, shownValue(value)]),
        parts: [...parts].map(([name, shown]) => shownPart(name, shown))
      }
      if (wanted !== "" && !holds(row, wanted)) return true
      if (rows.length === limit) {
        next = seq
        return false
      }
      rows.push(row)
      return true
    }
  )
  return { rows, next }
}

type Shown = { readonly bytes: Uint8Array } | { readonly size: number } | null

const shownValue = (value: JsonValue): string => (typeof value === "string" ? value : canonicalize(value))

const shownPart = (name: string, shown: Shown): TimelinePart => {
  if (shown === null) return { name, text: null, note: "not in this pack: withheld, or erased" }
  if ("size" in shown) return { name, text: null, note: `${shown.size} bytes, too long to be shown here` }
  const text = fromUtf8(shown.bytes)
  return text === null
    ? { name, text, note: `${shown.bytes.length} bytes that are no text` }
    : { name, text, note: null }
}

const holds = ({ kind, members, parts }: TimelineRow, wanted: string): boolean =>
  [kind, ...members.map(([, value]) => value), ...parts.map(({ text }) => text ?? "")].some((text) =>
    text.toLowerCase().includes(wanted)
  )

/** Longer parts are named with their size. */
const MAX_SHOWN_BYTES = 64 * 1024
