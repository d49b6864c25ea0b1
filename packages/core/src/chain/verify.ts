/**
 * Recomputes a stretch of the chain from its stored bytes: nothing that the store says about itself is believed.
 *
 * Checked are every record (form, hash, link, time, columns), every part against its commitment, the stored tree hashes over the stretch, and the root
 * of the last checkpoint with its signature. Pages stream by; memory does not grow with the chain.
 *
 * Spec: document 1 section 4, GET /chain/verify; design section 7.
 */
import type { Crypto } from "@flyball/evidence"
import { parseCheckpoint, parseNote, parseVkey, RangeFolder, split, toHex, utf8, verifyNote } from "@flyball/evidence"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import { checkParts } from "./check-parts.ts"
import { checkRecord, type Previous } from "./check-record.ts"
import { type Checkpoint, latestCheckpoint } from "./checkpoints.ts"
import { FindingList } from "./findings.ts"
import { previousOf } from "./rehash.ts"
import { TileCheck } from "./tile-check.ts"
import { storedTree } from "./tree.ts"

/** What a check of the chain found. */
export interface ChainCheck {
  /** Records whose bytes were recomputed. */
  readonly checked: number
  readonly from: number
  readonly to: number
  readonly findings: FindingList
  /** The last checkpoint, and whether its root and signature hold against what was recomputed; null when there is none. */
  readonly checkpoint: { readonly size: number; readonly rootHex: string; readonly ok: boolean } | null
}

/** Records read at once. Their parts are read too (up to 3 MiB a record), so pages are small. */
const PAGE_RECORDS = 100

/** Recomputes the records `from` to `to`, both inclusive and both in the chain. */
export const verifyRange = Effect.fnUntraced(function*(
  storage: StorageApi,
  crypto: Crypto,
  chain: { readonly origin: string; readonly vkeys: ReadonlyArray<string> },
  from: number,
  to: number
): Effect.fn.Return<ChainCheck, ReadFault> {
  const findings = new FindingList()
  const tiles = new TileCheck(storage, crypto, from)
  const latest = yield* latestCheckpoint(storage)
  // Only the leaves that the checkpoint covers go into its root.
  const folder = new RangeFolder(crypto, from)
  let previous: Previous | null = yield* previousOf(storage, crypto, from)
  let checked = 0
  for (let next = from; next <= to;) {
    const page = yield* storage.records({ from: next, to, limit: PAGE_RECORDS })
    if (page.length === 0 || page[0]!.seq !== next) {
      findings.add({ code: "E_SEQ", seq: next, expected: `record ${next}`, found: page.length === 0 ? `no record up to ${to}` : `record ${page[0]!.seq}` })
      break
    }
    const views = []
    for (const stored of page) {
      const record = checkRecord(crypto, stored, previous)
      findings.add(...record.findings)
      views.push({ seq: next, view: record.view })
      if (latest !== null && folder.next === next && next < latest.size) folder.pushLeaf(record.hash)
      tiles.add(record.hash)
      previous = record.next
      checked += 1
      next += 1
      if (stored.seq !== record.next.seq) break
    }
    findings.add(...(yield* checkParts(storage, crypto, views)))
    findings.add(...(yield* tiles.check))
  }
  const checkpoint = latest === null ? null : yield* checkCheckpoint(storage, crypto, chain, latest, folder, from, findings)
  return { checked, from, to, findings, checkpoint }
})

/** Compares the last checkpoint with the recomputed leaves, and with stored tree hashes for what lies beside them. */
const checkCheckpoint = Effect.fnUntraced(function*(
  storage: StorageApi,
  crypto: Crypto,
  chain: { readonly origin: string; readonly vkeys: ReadonlyArray<string> },
  latest: Checkpoint,
  folder: RangeFolder,
  from: number,
  findings: FindingList
) {
  const before = findings.listed.length + findings.unlisted
  const start = Math.min(from, latest.size)
  const span = start === from ? folder : new RangeFolder(crypto, start)
  const sides = yield* storedTree(storage, crypto).with((read) => read([...split(0, start), ...split(span.next, latest.size)])).pipe(
    Effect.catchTag("StorageCorrupt", () => Effect.succeed(null))
  )
  const leftCount = split(0, start).length
  const root = sides === null ? null : span.root(latest.size, sides.slice(0, leftCount), sides.slice(leftCount))
  const found = root === null ? "tree hashes are missing" : toHex(root)
  if (found !== latest.rootHex) findings.add({ code: "E_ROOT", seq: null, expected: `the root of the checkpoint of ${latest.size} records, ${latest.rootHex}`, found })
  const signed = noteProblem(crypto, chain, latest)
  if (signed !== null) findings.add({ code: "E_CHECKPOINT_SIG", seq: null, expected: `a checkpoint of ${latest.size} records signed by the log's key`, found: signed })
  return { size: latest.size, rootHex: latest.rootHex, ok: findings.listed.length + findings.unlisted === before }
})

/** Why a stored checkpoint note does not say what its document says, signed by a key of the chain; null when it does. */
const noteProblem = (crypto: Crypto, chain: { readonly origin: string; readonly vkeys: ReadonlyArray<string> }, latest: Checkpoint): string | null => {
  const note = parseNote(utf8(latest.note))
  if (!note.ok) return note.reason
  const text = parseCheckpoint(note.note.text)
  if (!text.ok) return text.reason
  const { origin, root, size } = text.checkpoint
  if (origin !== chain.origin || size !== latest.size || toHex(root) !== latest.rootHex) return "a note about another tree"
  const vkeys = chain.vkeys.flatMap((vkey) => {
    const parsed = parseVkey(vkey)
    return parsed.ok ? [parsed.vkey] : []
  })
  const { bad, verified } = verifyNote(crypto, note.note, vkeys)
  return bad.length > 0 ? "a signature that does not verify" : verified.length === 0 ? "no signature by a key of this chain" : null
}
