/**
 * Seals records into a full pack on disk, everything disclosed. Memory holds the hash of each record, and nothing else
 * that grows.
 */
import { randomBytes } from "node:crypto"
import { createReadStream, createWriteStream, rmSync, type WriteStream } from "node:fs"
import { once } from "node:events"
import {
  concatBytes,
  encodeRecord,
  formatCheckpoint,
  formatNote,
  LineReader,
  NO_RECORD,
  noteSigner,
  type PackHeader,
  packLines,
  rootOfHashes,
  toHex
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { PlannedRecord } from "./chain.ts"

/** A record whose parts have their salts. */
export interface SaltedRecord extends Omit<PlannedRecord, "parts"> {
  readonly parts: ReadonlyArray<{ readonly name: string; readonly salt: Uint8Array; readonly bytes: Uint8Array }>
}

/** A salt for each part that has none. */
export const salted = (record: PlannedRecord): SaltedRecord => ({
  ...record,
  parts: record.parts.map((part) => ({ ...part, salt: randomBytes(32) }))
})

/** Writes the pack; answers the key that signed it, and how many records there are. */
export const writePack = async (
  file: string,
  origin: string,
  header: PackHeader,
  records: Iterable<SaltedRecord>
): Promise<{ readonly vkey: string; readonly records: number }> => {
  const crypto = nodeCrypto
  const seed = new Uint8Array(32).fill(7)
  const signer = noteSigner(crypto, { name: origin, seed })
  const aside = { records: new Growing(`${file}.records`), parts: new Growing(`${file}.parts`) }
  const hashes: Array<Uint8Array> = []
  for (const { at, body, kind, parts } of records) {
    const seq = hashes.length
    const bytes = encodeRecord({
      at,
      kind,
      body,
      seq,
      prev: seq === 0 ? NO_RECORD : toHex(hashes[seq - 1]!),
      parts: parts.map(({ bytes: part, name, salt }) => ({ name, c: toHex(crypto.commitment(salt, name, part)) }))
    })
    // Hashes may share a buffer that is used again.
    hashes.push(crypto.leafHash(bytes).slice())
    await aside.records.add(bytes)
    for (const part of parts)
      await aside.parts.add(
        new TextEncoder().encode(
          `${seq} ${part.name} ${toHex(part.salt)} ${Buffer.from(part.bytes).toString("base64")}`
        )
      )
  }
  const size = hashes.length
  const text = formatCheckpoint({ origin, size, root: rootOfHashes(crypto, hashes) })
  const lines = packLines(crypto, origin)
  const out = new Growing(file, null)
  await out.add(
    lines.open({ ...header, from: 0, to: size - 1, tree_size: size }, formatNote(text, [signer.line(text)]))
  )
  for await (const line of aside.records.lines()) await out.add(lines.record(line))
  await out.add(lines.range(0, size - 1, [], []))
  for await (const line of aside.parts.lines()) {
    const [seq, name, salt, bytes] = new TextDecoder().decode(line).split(" ") as [string, string, string, string]
    await out.add(lines.disclosed(Number(seq), name, Buffer.from(salt, "hex"), Buffer.from(bytes, "base64")))
  }
  await out.add((await lines.close((message) => crypto.ed25519Sign(seed, message), signer.name, signer.keyId)).bytes)
  await out.end()
  return { vkey: signer.vkey, records: size }
}

/** A file that grows by lines, in pieces of a megabyte; read once, then gone. */
class Growing {
  readonly #path: string
  readonly #end: Uint8Array
  readonly #out: WriteStream
  #waiting: Array<Uint8Array> = []
  #bytes = 0

  constructor(path: string, end: Uint8Array | null = Uint8Array.of(0x0a)) {
    this.#path = path
    this.#end = end ?? new Uint8Array(0)
    this.#out = createWriteStream(path)
  }

  async add(line: Uint8Array): Promise<void> {
    this.#waiting.push(line, this.#end)
    this.#bytes += line.length
    if (this.#bytes > 1 << 20) await this.#flush()
  }

  async end(): Promise<void> {
    await this.#flush()
    this.#out.end()
    await once(this.#out, "close")
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    await this.end()
    const reader = new LineReader(null, 1 << 22)
    for await (const chunk of createReadStream(this.#path, { highWaterMark: 1 << 20 })) {
      reader.feed(chunk)
      while (reader.next()) yield reader.bytes.slice(reader.start, reader.end)
    }
    rmSync(this.#path)
  }

  async #flush(): Promise<void> {
    const all = concatBytes(...this.#waiting)
    this.#waiting = []
    this.#bytes = 0
    if (!this.#out.write(all)) await once(this.#out, "drain")
  }
}
