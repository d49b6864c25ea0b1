/**
 * Recomputes a stretch of the chain from its stored bytes: nothing that the store says about itself is believed.
 *
 * Checked are every record (form, hash, link, time, columns), every part against its commitment, the stored tree hashes
 * over the stretch, and the root
 * of the last checkpoint with its signature; of earlier ones those that both keys of a rotation must have signed. Pages
 * stream by; memory does not grow with the chain.
 *
 * Spec: document 1 section 4, GET /chain/verify; design section 7.
 */
import type { Crypto } from "@flyball/evidence"
import { RangeFolder, split, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { type KeySince, keyIdText, rotationsAmong, vkeyAt } from "../keys/chain-keys.ts"
import { noteProblem } from "../keys/check-note.ts"
import { checkParts } from "./check-parts.ts"
import { checkRecord, type Previous } from "./check-record.ts"
import { type Checkpoint, firstCovering, latestCheckpoint } from "./checkpoints.ts"
import { FindingList } from "./findings.ts"
import { previousOf } from "./rehash.ts"
import { TileCheck } from "./tile-check.ts"
import { storedTree } from "./tree.ts"

/** Result of a check of the chain. */
export interface ChainCheck {
  /** Records whose bytes were recomputed. */
  readonly checked: number
  readonly from: number
  readonly to: number
  readonly findings: FindingList
  /**
   * The last checkpoint, and whether its root and signature hold against what was recomputed; null when there is none.
   */
  readonly checkpoint: { readonly size: number; readonly rootHex: string; readonly ok: boolean } | null
}

/** A chain, and the keys that may have signed for it. */
export interface SignedChain {
  readonly origin: string
  /** All its keys, the current one last. */
  readonly keys: ReadonlyArray<KeySince>
}

/** Records read at once. Their parts are read too (up to 3 MiB a record), so pages are small. */
const PAGE_RECORDS = 100

/** Recomputes the records `from` to `to`, both inclusive and both in the chain. */
export const verifyRange = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  chain: SignedChain,
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
      findings.add({
        code: "E_SEQ",
        seq: next,
        expected: `record ${next}`,
        found: page.length === 0 ? `no record up to ${to}` : `record ${page[0]!.seq}`
      })
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
  const checkpoint =
    latest === null ? null : yield* checkCheckpoint(storage, crypto, chain, latest, folder, from, findings)
  return { checked, from, to, findings, checkpoint }
})

/** Compares the last checkpoint with the recomputed leaves, and with stored tree hashes for what lies beside them. */
const checkCheckpoint = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  chain: SignedChain,
  latest: Checkpoint,
  folder: RangeFolder,
  from: number,
  findings: FindingList
) {
  const before = findings.listed.length + findings.unlisted
  const start = Math.min(from, latest.size)
  const span = start === from ? folder : new RangeFolder(crypto, start)
  const sides = yield* storedTree(storage, crypto)
    .with((read) => read([...split(0, start), ...split(span.next, latest.size)]))
    .pipe(Effect.catchTag("StorageCorrupt", () => Effect.succeed(null)))
  const leftCount = split(0, start).length
  const root = sides === null ? null : span.root(latest.size, sides.slice(0, leftCount), sides.slice(leftCount))
  const found = root === null ? "tree hashes are missing" : toHex(root)
  if (found !== latest.rootHex)
    findings.add({
      code: "E_ROOT",
      seq: null,
      expected: `the root of the checkpoint of ${latest.size} records, ${latest.rootHex}`,
      found
    })
  const rotations = yield* rotationNotes(storage, chain, latest)
  const needed = rotations.flatMap(({ checkpoint, needed }) => (checkpoint.size === latest.size ? needed : []))
  const current = vkeyAt(chain.keys, latest.size)
  const signed = noteProblem(crypto, { ...signersOf(chain), needed: [...needed, current] }, latest)
  if (signed !== null)
    findings.add({
      code: "E_CHECKPOINT_SIG",
      seq: null,
      expected: `a checkpoint of ${latest.size} records signed by ${signersText(needed, current)}`,
      found: signed
    })
  const ok = findings.listed.length + findings.unlisted === before
  yield* checkRotations(
    storage,
    crypto,
    chain,
    rotations.filter(({ checkpoint }) => checkpoint.size !== latest.size),
    findings
  )
  return { size: latest.size, rootHex: latest.rootHex, ok }
})

const signersOf = ({ keys, origin }: SignedChain) => ({ origin, known: keys.map(({ vkey }) => vkey) })

const signersText = (needed: ReadonlyArray<string>, current: string): string =>
  needed.length === 0
    ? `the log's key ${keyIdText(current)}`
    : `both keys of a rotation, ${[...new Set([...needed, current])].map(keyIdText).join(" and ")}`

/**
 * The first checkpoint that covers each rotation, and the keys that must have signed it. A rotation that none covers is
 * not finished, which is no finding.
 */
const rotationNotes = Effect.fnUntraced(function* (storage: StorageApi, { keys }: SignedChain, latest: Checkpoint) {
  const notes: Array<{
    readonly seq: number
    readonly checkpoint: Checkpoint
    readonly needed: ReadonlyArray<string>
  }> = []
  for (const { fromVkey, seq, toVkey } of rotationsAmong(keys)) {
    const checkpoint = (yield* firstCovering(storage, seq)) ?? (latest.size > seq ? latest : null)
    if (checkpoint !== null) notes.push({ seq, checkpoint, needed: [fromVkey, toVkey] })
  }
  return notes
})

/**
 * Checks older checkpoints that two keys must have signed: their root against the stored tree, which was recomputed,
 * and both signatures.
 */
const checkRotations = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  chain: SignedChain,
  rotations: Effect.Success<ReturnType<typeof rotationNotes>>,
  findings: FindingList
) {
  for (const { checkpoint, needed, seq } of rotations) {
    const what = `the first checkpoint that covers the key rotation in record ${seq}, of ${checkpoint.size} records,`
    const root = yield* storedTree(storage, crypto)
      .rootAt(checkpoint.size)
      .pipe(
        Effect.map(toHex),
        Effect.catchTag("StorageCorrupt", () => Effect.succeed("tree hashes are missing"))
      )
    if (root !== checkpoint.rootHex)
      findings.add({
        code: "E_ROOT",
        seq: null,
        expected: `${what} to have the root ${root}`,
        found: checkpoint.rootHex
      })
    const signed = noteProblem(crypto, { ...signersOf(chain), needed }, checkpoint)
    if (signed !== null)
      findings.add({
        code: "E_CHECKPOINT_SIG",
        seq: null,
        expected: `${what} to be signed by ${needed.map(keyIdText).join(" and ")}`,
        found: signed
      })
  }
})
