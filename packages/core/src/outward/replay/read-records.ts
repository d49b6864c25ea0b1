/** Reads stored records as the fold wants them, page by page. */
import { type Crypto, readRecord, type RecordView, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { inTurns } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi, StoredPart } from "../../storage/port.ts"
import { catalogueDifference, kindsWithParts } from "@flyball/rules"
import type { Difference, PartContent, ReplayRecord } from "@flyball/rules"

/**
 * Records read at a time. With their parts a page of governance records stays in the megabytes; decisions' parts are
 * not read at all.
 */
const PAGE = 500

/** Parts of a page of records: their contents, and the differences found. */
interface PageParts {
  readonly contents: Map<number, Map<string, PartContent>>
  readonly differences: ReadonlyArray<Difference>
}

/**
 * Reads the records from..to and hands each to `fold`, in order, with the parts that the fold reads or with all. Memory
 * holds one page.
 */
export const readRecords = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  range: { readonly from: number; readonly to: number },
  fold: (record: ReplayRecord) => void,
  report: (difference: Difference) => void,
  which: "what the fold reads" | "every part" = "what the fold reads"
): Effect.fn.Return<void, ReadFault> {
  for (let from = range.from; from <= range.to;) {
    const page = yield* storage.records({ from, to: range.to, limit: PAGE })
    if (page.length === 0)
      return yield* new StorageCorrupt({ reason: `record ${from} is missing below the head at ${range.to}` })
    const views: Array<RecordView> = []
    yield* inTurns(page, ({ bytes, seq }) => {
      const read = readRecord(bytes)
      if (!read.ok) return Effect.fail(new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` }))
      views.push(read.record)
      const difference = catalogueDifference(read.record)
      if (difference !== null) report(difference)
    })
    const { contents, differences } = yield* partsOf(
      storage,
      crypto,
      views,
      which === "every part" ? () => true : ({ kind }) => kindsWithParts.has(kind)
    )
    differences.forEach(report)
    yield* inTurns(views, (view) => {
      fold({ seq: view.seq, kind: view.kind, body: view.body, parts: contents.get(view.seq) ?? new Map() })
    })
    from = page.at(-1)!.seq + 1
  }
})

const partsOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  views: ReadonlyArray<RecordView>,
  picks: (view: RecordView) => boolean
): Effect.fn.Return<PageParts, ReadFault> {
  const wanted = views.filter((view) => view.parts.length > 0 && picks(view))
  const contents = new Map(wanted.map((view) => [view.seq, new Map<string, PartContent>()]))
  const differences: Array<Difference> = []
  if (wanted.length === 0) return { contents, differences }
  const stored = new Map(
    (yield* storage.parts(wanted.map((view) => view.seq))).map((part) => [`${part.seq}/${part.name}`, part])
  )
  for (const view of wanted) {
    for (const { name, c } of view.parts) {
      const { content, found } = judge(crypto, stored.get(`${view.seq}/${name}`), name, c)
      contents.get(view.seq)!.set(name, content)
      if (found !== null)
        differences.push({
          collection: "parts",
          id: `${view.seq}/${name}`,
          path: "",
          expected: "the content that the record committed to",
          found
        })
    }
  }
  return { contents, differences }
})

/** A part is believed only when the record's commitment fits it. */
const judge = (
  crypto: Crypto,
  part: StoredPart | undefined,
  name: string,
  commitment: string
): { readonly content: PartContent; readonly found: string | null } => {
  if (part === undefined) return { content: { state: "missing" }, found: "nothing, and no record of an erasure" }
  if (part.bytes === null) return { content: { state: "erased" }, found: null }
  return toHex(crypto.commitment(part.salt, name, part.bytes)) === commitment
    ? { content: { state: "present", bytes: part.bytes }, found: null }
    : { content: { state: "missing" }, found: "content that the commitment does not fit" }
}
