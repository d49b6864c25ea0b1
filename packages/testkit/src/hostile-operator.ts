/**
 * Attacks by an operator who holds the key: take a full pack apart, change its records, and seal it so that every hash
 * and signature fits.
 */
import type { Crypto, JsonObject, PackHeader } from "@flyball/evidence"
import {
  concatBytes,
  encodeRecord,
  formatCheckpoint,
  formatNote,
  fromBase64,
  fromUtf8,
  NO_RECORD,
  noteSigner,
  packLines,
  readRecord,
  rootOfHashes,
  toHex,
  utf8
} from "@flyball/evidence"

/** A part of a record: disclosed, erased by a later record, or withheld. */
export interface OpenPart {
  readonly name: string
  /** 64 hex digits; made again from what is disclosed. */
  readonly c: string
  readonly disclosed: { readonly salt: Uint8Array; readonly bytes: Uint8Array } | null
  readonly erasingSeq: number | null
}

/** A record as it can be changed. */
export interface OpenRecord {
  readonly at: string
  readonly kind: string
  readonly body: JsonObject
  readonly parts: ReadonlyArray<OpenPart>
}

/** A full pack, taken apart. */
export interface OpenPack {
  readonly origin: string
  readonly header: PackHeader
  readonly records: ReadonlyArray<OpenRecord>
}

/** Splits a valid full pack into its lines. Throws for a pack that cannot be read. */
export const openPack = (pack: Uint8Array): OpenPack => {
  const lines = fromUtf8(pack)!
    .trimEnd()
    .split("\n")
    .map((line) => [line[0]!, line.slice(2)] as const)
  const of = (tag: string): ReadonlyArray<string> => lines.flatMap(([found, rest]) => (found === tag ? [rest] : []))
  const disclosed = new Map(
    of("D").map((line) => {
      const [seq, name, salt, part = ""] = line.split(" ")
      return [`${seq} ${name}`, { salt: fromBase64(salt!)!, bytes: fromBase64(part)! }] as const
    })
  )
  const erased = new Map(
    of("E").map((line) => {
      const [seq, name, by] = line.split(" ")
      return [`${seq} ${name}`, Number(by)] as const
    })
  )
  const records = of("R").map((text): OpenRecord => {
    const read = readRecord(utf8(text))
    if (!read.ok) throw new Error(`A record of the pack cannot be read (${read.code}).`)
    const { at, body, kind, parts, seq } = read.record
    return {
      at,
      kind,
      body,
      parts: parts.map(({ c, name }) => ({
        name,
        c,
        disclosed: disclosed.get(`${seq} ${name}`) ?? null,
        erasingSeq: erased.get(`${seq} ${name}`) ?? null
      }))
    }
  })
  return {
    origin: fromUtf8(pack)!.split("\n")[0]!.split(" ")[1]!,
    header: JSON.parse(of("H")[0]!) as PackHeader,
    records
  }
}

/**
 * Seals a pack again with a key: `seed` is that of the chain's own, or of a chain that never was. Answers it with the
 * key to pin.
 */
export const sealPack = async (
  crypto: Crypto,
  { header, origin, records }: OpenPack,
  seed: Uint8Array
): Promise<{ readonly pack: Uint8Array; readonly vkey: string }> => {
  const signer = noteSigner(crypto, { name: origin, seed })
  const sealed: Array<{ readonly bytes: Uint8Array; readonly hash: Uint8Array }> = []
  for (const { at, body, kind, parts } of records) {
    const bytes = encodeRecord({
      at,
      kind,
      body,
      seq: sealed.length,
      prev: sealed.length === 0 ? NO_RECORD : toHex(sealed.at(-1)!.hash),
      parts: parts.map(({ c, disclosed, name }) => ({
        name,
        c: disclosed === null ? c : toHex(crypto.commitment(disclosed.salt, name, disclosed.bytes))
      }))
    })
    sealed.push({ bytes, hash: crypto.leafHash(bytes) })
  }
  const size = sealed.length
  const text = formatCheckpoint({
    origin,
    size,
    root: rootOfHashes(
      crypto,
      sealed.map(({ hash }) => hash)
    )
  })
  const lines = packLines(crypto, origin)
  const out = [
    lines.open({ ...header, to: size - 1, tree_size: size }, formatNote(text, [signer.line(text)])),
    ...sealed.map(({ bytes }) => lines.record(bytes)),
    lines.range(0, size - 1, [], [])
  ]
  records.forEach(({ parts }, seq) =>
    parts.forEach(
      ({ disclosed, name }) =>
        disclosed === null || out.push(lines.disclosed(seq, name, disclosed.salt, disclosed.bytes))
    )
  )
  records.forEach(({ parts }, seq) =>
    parts.forEach(({ erasingSeq, name }) => erasingSeq === null || out.push(lines.erased(seq, name, erasingSeq)))
  )
  const closed = await lines.close((message) => crypto.ed25519Sign(seed, message), signer.name, signer.keyId)
  return { pack: concatBytes(...out, closed.bytes), vkey: signer.vkey }
}
