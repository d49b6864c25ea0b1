/**
 * Makes the bytes of a pack, a chunk at a time.
 *
 * Records go first, then disclosed parts, then erased ones: three passes over pages, so that memory does not grow with
 * the pack. A part that was erased after the pack was requested is in neither of the two: its erasing record lies
 * outside the tree, and a verifier reads the part as withheld.
 *
 * Spec: chain-format section 5.
 */
import type { Crypto, PackLines } from "@flyball/evidence"
import { concatBytes, inclusionProof, packLines, PREVIOUS, rangeProof } from "@flyball/evidence"
import { Effect } from "effect"
import type { Checkpoint } from "../../chain/check/checkpoints.ts"
import { logKeyId } from "../../chain/keys/signed-note.ts"
import type { SigningKey } from "../../chain/keys/signer.ts"
import { storedTree } from "../../chain/check/tree.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi, StoredPart, StoredRecord } from "../../storage/port.ts"
import { cachedReader } from "./cached-reader.ts"
import { packHeader, type PackSpec } from "./document.ts"
import { type Matcher, packMatcher } from "./matcher.ts"

/** Dependencies of building a pack. */
export interface PackParts {
  readonly storage: StorageApi
  /** The key that closes the pack. */
  readonly signer: SigningKey
  readonly crypto: Crypto
  readonly origin: string
  /** Keys of the chain: hints for a reader, never trust. */
  readonly vkeys: ReadonlyArray<string>
  /** Runs a read; rejects with the store's fault itself. */
  readonly run: <A>(effect: Effect.Effect<A, ReadFault>) => Promise<A>
}

/** Name and version of what makes packs, for the H line. */
export const GENERATOR = "flyball/0.1.0"

/** Records read at once, while the page before is written: at most 16 MiB each, as a rule well under 1 MiB. */
const RECORD_PAGE = 250
/**
 * Records whose parts are read at once: three parts of 1 MiB each make 96 MiB in the worst case, a few KiB as a rule.
 */
const PART_PAGE = 32
/**
 * The same while the parts are small: each page is a message to another thread or host. 288 MiB if all of the next ones
 * were large at once.
 */
const SMALL_PART_PAGE = 96
/** Bytes of a page of parts below which the next page is a larger one. */
const SMALL_BYTES = 256 * 1024
/** Bytes gathered before they are handed on. */
const CHUNK_BYTES = 64 * 1024

/**
 * The bytes of the pack. Errors of the store are thrown as they are: what came before is then a pack without an end,
 * which no reader takes for whole.
 *
 * `ended` runs after the last byte was taken, with the digest that Z names.
 */
export async function* buildPack(
  parts: PackParts,
  spec: PackSpec,
  checkpoint: Checkpoint,
  createdAtMs: number,
  ended: (digest: Uint8Array) => Promise<void> = async () => {}
): AsyncGenerator<Uint8Array, void, undefined> {
  const { crypto, origin, run, signer } = parts
  const lines = packLines(crypto, origin)
  yield* contentLines(parts, spec, checkpoint, createdAtMs, lines)
  const closed = await lines.close((message) => run(signer.sign(message)), origin, logKeyId(crypto, signer, origin))
  yield closed.bytes
  await ended(closed.digest)
}

async function* contentLines(
  parts: PackParts,
  spec: PackSpec,
  checkpoint: Checkpoint,
  createdAtMs: number,
  lines: PackLines
): AsyncGenerator<Uint8Array> {
  const { crypto, run, storage, vkeys } = parts
  const matches = packMatcher(storage, spec)
  const reader = cachedReader((coords) => run(storedTree(storage, crypto).with((read) => read(coords))))
  const chunk = new Chunk()
  chunk.add(lines.open(packHeader(spec, createdAtMs, GENERATOR), checkpoint.note, { hints: vkeys }))
  for await (const page of ahead(matchingPages(parts, spec, matches))) {
    for (const record of page) {
      chunk.add(lines.record(record.bytes))
      if (spec.kind === "sparse")
        chunk.add(lines.inclusion(record.seq, await inclusionProof(crypto, record.seq, spec.treeSize, reader)))
      if (chunk.full) yield chunk.take()
    }
  }
  if (spec.kind !== "sparse") {
    const { left, right } = await rangeProof(crypto, spec.from, spec.to, spec.treeSize, reader)
    chunk.add(lines.range(spec.from, spec.to, left, right))
  }
  for await (const page of spec.disclose === "none"
    ? alwaysDisclosed(parts, spec, matches)
    : ahead(partPages(parts, spec, matches))) {
    for (const part of page) {
      if (part.erasedBy === null && discloses(spec, part))
        chunk.add(lines.disclosed(part.seq, part.name, part.salt, part.bytes))
      if (chunk.full) yield chunk.take()
    }
  }
  if (await holdsErasures(parts, spec)) {
    for await (const page of ahead(partPages(parts, spec, matches))) {
      for (const part of page) {
        if (part.erasedBy !== null && (await holds(parts, matches, part.erasedBy)))
          chunk.add(lines.erased(part.seq, part.name, part.erasedBy))
        if (chunk.full) yield chunk.take()
      }
    }
  }
  yield chunk.take()
}

/** The pack's records, a page at a time. A full or range pack has every record of its range, or there is no pack. */
async function* matchingPages(
  { run, storage }: PackParts,
  spec: PackSpec,
  matches: Matcher
): AsyncGenerator<ReadonlyArray<StoredRecord>> {
  for (let from = spec.from; from <= spec.to;) {
    const page = await run(storage.records(pageQuery(spec, from)))
    if (spec.kind === "sparse") {
      yield await run(Effect.filter(page, matches))
      if (page.length < RECORD_PAGE) return
    } else {
      page.forEach((record, index) => {
        if (record.seq !== from + index) throw missing(from + index)
      })
      if (page.length === 0) throw missing(from)
      yield page
    }
    from = page.at(-1)!.seq + 1
  }
}

const missing = (seq: number): StorageCorrupt =>
  new StorageCorrupt({ reason: `record ${seq} is missing, though the head is further on` })

/** The store's own look-ups narrow the page; the matcher decides. */
const pageQuery = (spec: PackSpec, from: number) => ({
  from,
  to: spec.to,
  limit: RECORD_PAGE,
  ...(spec.agentId === null ? {} : { agentId: spec.agentId }),
  ...(spec.kinds === null ? {} : { kinds: spec.kinds })
})

/** The parts of the pack's records, by seq and name, a page at a time. */
async function* partPages(
  parts: PackParts,
  spec: PackSpec,
  matches: Matcher
): AsyncGenerator<ReadonlyArray<StoredPart>> {
  const { run, storage } = parts
  let size = PART_PAGE
  for await (const seqs of seqPages(parts, spec, matches)) {
    for (let at = 0; at < seqs.length;) {
      const page = await run(storage.parts(seqs.slice(at, at + size)))
      at += size
      size = page.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0) < SMALL_BYTES ? SMALL_PART_PAGE : PART_PAGE
      yield page
    }
  }
}

/**
 * The seqs of the pack's records. A full or range pack has all of its range: {@link matchingPages} has checked that.
 */
async function* seqPages(parts: PackParts, spec: PackSpec, matches: Matcher): AsyncGenerator<ReadonlyArray<number>> {
  if (spec.kind === "sparse")
    for await (const page of matchingPages(parts, spec, matches)) yield page.map(({ seq }) => seq)
  else
    for (let from = spec.from; from <= spec.to; from += RECORD_PAGE)
      yield Array.from({ length: Math.min(RECORD_PAGE, spec.to + 1 - from) }, (_, index) => from + index)
}

/** The same pages, each requested while the one before is being processed. */
async function* ahead<A>(pages: AsyncGenerator<A>): AsyncGenerator<A> {
  try {
    for (let next = pages.next(); ;) {
      const { done, value } = await next
      if (done === true) return
      next = pages.next()
      // A consumer that stops here never waits for it.
      next.catch(() => undefined)
      yield value
    }
  } finally {
    await pages.return(undefined)
  }
}

/** The parts of record 0, where the pack holds it. */
async function* alwaysDisclosed(
  { run, storage }: PackParts,
  spec: PackSpec,
  matches: Matcher
): AsyncGenerator<ReadonlyArray<StoredPart>> {
  const first = spec.from === 0 ? await run(storage.record(0)) : null
  if (first !== null && (await run(matches(first)))) yield await run(storage.parts([0]))
}

/**
 * That a chain follows another one, of which records may be missing, is nothing that a pack may leave out. Decision
 * 0010.
 */
const discloses = ({ disclose }: PackSpec, { name, seq }: StoredPart): boolean =>
  disclose === "all" || (seq === 0 && name === PREVIOUS) || (disclose !== "none" && disclose.includes(name))

const holdsErasures = async ({ run, storage }: PackParts, spec: PackSpec): Promise<boolean> =>
  (await run(storage.records({ from: spec.from, to: spec.to, kinds: ["part.erased"], limit: 1 }))).length > 0

/** Reports whether the pack holds this record. A reader believes an E line only then. */
const holds = async ({ run, storage }: PackParts, matches: Matcher, seq: number): Promise<boolean> => {
  const record = await run(storage.record(seq))
  return record !== null && run(matches(record))
}

/** Lines gathered until they are worth handing on. */
class Chunk {
  #lines: Array<Uint8Array> = []
  #bytes = 0

  add(line: Uint8Array): void {
    this.#lines.push(line)
    this.#bytes += line.length
  }

  get full(): boolean {
    return this.#bytes >= CHUNK_BYTES
  }

  take(): Uint8Array {
    const all = concatBytes(...this.#lines)
    this.#lines = []
    this.#bytes = 0
    return all
  }
}
