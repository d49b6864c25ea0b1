/**
 * Makes the bytes of a pack, a chunk at a time.
 *
 * Records go first, then disclosed parts, then erased ones: three passes over pages, so that memory does not grow with the pack. What was erased
 * since the pack was asked for is in neither of the two: its erasing record lies outside the tree, and a verifier reads the part as withheld.
 *
 * Spec: chain-format section 5.
 */
import type { Crypto, PackLines } from "@flyball/evidence"
import { concatBytes, inclusionProof, packLines, rangeProof } from "@flyball/evidence"
import { Effect } from "effect"
import type { Checkpoint } from "../chain/checkpoints.ts"
import { logKeyId } from "../chain/signed-note.ts"
import type { SignerApi } from "../chain/signer.ts"
import { storedTree } from "../chain/tree.ts"
import { StorageCorrupt } from "../storage/faults.ts"
import type { ReadFault, StorageApi, StoredPart, StoredRecord } from "../storage/port.ts"
import { cachedReader } from "./cached-reader.ts"
import { packHeader, type PackSpec } from "./document.ts"
import { type Matcher, packMatcher } from "./matcher.ts"

/** What building needs. */
export interface PackParts {
  readonly storage: StorageApi
  readonly signer: SignerApi
  readonly crypto: Crypto
  readonly origin: string
  /** Keys of the chain: hints for a reader, never trust. */
  readonly vkeys: ReadonlyArray<string>
  /** Runs a read; rejects with the store's fault itself. */
  readonly run: <A>(effect: Effect.Effect<A, ReadFault>) => Promise<A>
}

/** Name and version of what makes packs, for the H line. */
export const GENERATOR = "flyball/0.1.0"

/** Records read at once: at most 32 MiB, as a rule well under 1 MiB. */
const RECORD_PAGE = 500
/** Records whose parts are read at once: three parts of 1 MiB each make 96 MiB in the worst case, a few KiB as a rule. */
const PART_PAGE = 32
/** Bytes gathered before they are handed on. */
const CHUNK_BYTES = 64 * 1024

/**
 * The bytes of the pack. Errors of the store are thrown as they are: what came before is then a pack without an end, which no reader takes for whole.
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

async function* contentLines(parts: PackParts, spec: PackSpec, checkpoint: Checkpoint, createdAtMs: number, lines: PackLines): AsyncGenerator<Uint8Array> {
  const { crypto, run, storage, vkeys } = parts
  const matches = packMatcher(storage, spec)
  const reader = cachedReader((coords) => run(storedTree(storage, crypto).with((read) => read(coords))))
  const chunk = new Chunk()
  chunk.add(lines.open(packHeader(spec, createdAtMs, GENERATOR), checkpoint.note, { hints: vkeys }))
  for await (const page of matchingPages(parts, spec, matches)) {
    for (const record of page) {
      chunk.add(lines.record(record.bytes))
      if (spec.kind === "sparse") chunk.add(lines.inclusion(record.seq, await inclusionProof(crypto, record.seq, spec.treeSize, reader)))
      if (chunk.full) yield chunk.take()
    }
  }
  if (spec.kind !== "sparse") {
    const { left, right } = await rangeProof(crypto, spec.from, spec.to, spec.treeSize, reader)
    chunk.add(lines.range(spec.from, spec.to, left, right))
  }
  if (spec.disclose !== "none") {
    const names = spec.disclose === "all" ? null : new Set(spec.disclose)
    for await (const part of partsOf(parts, spec, matches)) {
      if (part.erasedBy === null && (names === null || names.has(part.name))) chunk.add(lines.disclosed(part.seq, part.name, part.salt, part.bytes))
      if (chunk.full) yield chunk.take()
    }
  }
  if (await holdsErasures(parts, spec)) {
    for await (const part of partsOf(parts, spec, matches)) {
      if (part.erasedBy !== null && (await holds(parts, matches, part.erasedBy))) chunk.add(lines.erased(part.seq, part.name, part.erasedBy))
      if (chunk.full) yield chunk.take()
    }
  }
  yield chunk.take()
}

/** The pack's records, a page at a time. A full or range pack has every record of its range, or there is no pack. */
async function* matchingPages({ run, storage }: PackParts, spec: PackSpec, matches: Matcher): AsyncGenerator<ReadonlyArray<StoredRecord>> {
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

const missing = (seq: number): StorageCorrupt => new StorageCorrupt({ reason: `record ${seq} is missing, though the head is further on` })

/** The store's own look-ups narrow the page; the matcher decides. */
const pageQuery = (spec: PackSpec, from: number) => ({
  from,
  to: spec.to,
  limit: RECORD_PAGE,
  ...(spec.agentId === null ? {} : { agentId: spec.agentId }),
  ...(spec.kinds === null ? {} : { kinds: spec.kinds })
})

/** The parts of the pack's records, by seq and name. */
async function* partsOf(parts: PackParts, spec: PackSpec, matches: Matcher): AsyncGenerator<StoredPart> {
  const { run, storage } = parts
  for await (const page of matchingPages(parts, spec, matches)) {
    for (let at = 0; at < page.length; at += PART_PAGE) {
      yield* await run(storage.parts(page.slice(at, at + PART_PAGE).map(({ seq }) => seq)))
    }
  }
}

const holdsErasures = async ({ run, storage }: PackParts, spec: PackSpec): Promise<boolean> =>
  (await run(storage.records({ from: spec.from, to: spec.to, kinds: ["part.erased"], limit: 1 }))).length > 0

/** Whether the pack holds this record. A reader believes an E line only then. */
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
