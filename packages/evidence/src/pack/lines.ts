/** Makes the lines of an evidence pack, in order, with their digest and the closing signature. */
import { base64Digits, base64Into, concatBytes, toBase64, toHex, utf8 } from "../bytes.ts"
import type { Crypto, Hasher } from "../crypto.ts"
import { formatNote, signatureLine } from "../note/note.ts"
import type { PackHeader } from "./format.ts"
import {
  HASH_BYTES,
  MAX_HINTS,
  MAX_PART_BYTES,
  MAX_RECORD_BYTES,
  MAX_TOKENS,
  PACK_FORMAT,
  packNoteName
} from "./format.ts"
import { encodeHeader } from "./header.ts"
import { tagsAfter } from "./order.ts"

/** Optional content between the header and the records. */
export interface PackExtras {
  /** An older checkpoint note, and the consistency proof from it to the pack's own. */
  readonly older?: { readonly note: string | Uint8Array; readonly proof: ReadonlyArray<Uint8Array> }
  /** Vkeys that may help a reader; never trust. */
  readonly hints?: ReadonlyArray<string>
  /** RFC 3161 tokens over SHA-256 of the checkpoint's text. */
  readonly tokens?: ReadonlyArray<Uint8Array>
}

/** Signs the text of N. */
export type PackSign = (message: Uint8Array) => Uint8Array | Promise<Uint8Array>

/**
 * Writes a pack line by line. Each call returns the bytes of its lines and feeds the running digest.
 *
 * The caller keeps the order of section 5: `open`, then each `record` (sparse: followed by its `inclusion`), `range`
 * (range and full), every `disclosed`, every `erased`, `close`. Calls that break it throw: the pack would not be
 * readable.
 *
 * - Spec: format 1 section 5.
 */
export class PackLines {
  readonly #origin: string
  readonly #digest: Hasher
  /** Tag of the last line; empty before `open`. */
  #tag = ""
  #header: PackHeader | null = null
  #lines = 0

  constructor(crypto: Crypto, origin: string) {
    this.#origin = origin
    this.#digest = crypto.hasher()
  }

  /** The first line, H, C, and what may follow before the records. */
  open(header: PackHeader, checkpointNote: string | Uint8Array, extras: PackExtras = {}): Uint8Array {
    if (this.#tag !== "") throw new Error("A pack is opened once.")
    const { hints = [], older, tokens = [] } = extras
    if (hints.length > MAX_HINTS) throw new RangeError(`A pack has at most ${MAX_HINTS} K lines, not ${hints.length}.`)
    if (tokens.length > MAX_TOKENS)
      throw new RangeError(`A pack has at most ${MAX_TOKENS} W lines, not ${tokens.length}.`)
    this.#header = header
    this.#tag = "K"
    return this.#emit(
      `${PACK_FORMAT} ${this.#origin}`,
      concatBytes(utf8("H "), encodeHeader(header)),
      `C ${noteBase64(checkpointNote)}`,
      ...(older === undefined ? [] : [`G ${noteBase64(older.note)}`, ["X", ...hashesBase64(older.proof)].join(" ")]),
      ...tokens.map((token) => `W ${toBase64(token)}`),
      ...hints.map((vkey) => `K ${vkey}`)
    )
  }

  /** The R line of a record, its bytes as they were hashed. */
  record(bytes: Uint8Array): Uint8Array {
    this.#enter("R")
    if (bytes.length > MAX_RECORD_BYTES)
      throw new RangeError(`A record has at most ${MAX_RECORD_BYTES} bytes, not ${bytes.length}.`)
    // The hot path of an export: one array, no text.
    const line = new Uint8Array(bytes.length + 3)
    line[0] = 0x52
    line[1] = 0x20
    line.set(bytes, 2)
    line[line.length - 1] = 0x0a
    this.#lines++
    this.#digest.update(line)
    return line
  }

  /** The I line after a record of a sparse pack. */
  inclusion(seq: number, proof: ReadonlyArray<Uint8Array>): Uint8Array {
    this.#enter("I")
    return this.#emit(["I", seq, ...hashesBase64(proof)].join(" "))
  }

  /** The S line after the last record of a range or full pack: hashes left of the range, then right of it. */
  range(from: number, to: number, left: ReadonlyArray<Uint8Array>, right: ReadonlyArray<Uint8Array>): Uint8Array {
    this.#enter("S")
    return this.#emit(["S", from, to, ...hashesBase64(left), ...hashesBase64(right)].join(" "))
  }

  /** A D line. The caller sorts by seq, then name. */
  disclosed(seq: number, name: string, salt: Uint8Array, part: Uint8Array): Uint8Array {
    this.#enter("D")
    if (part.length > MAX_PART_BYTES)
      throw new RangeError(`A part has at most ${MAX_PART_BYTES} bytes, not ${part.length}.`)
    // The other half of an export: one array, and no text of the part.
    const head = utf8(`D ${seq} ${name} `)
    const line = new Uint8Array(head.length + base64Digits(salt.length) + 1 + base64Digits(part.length) + 1)
    line.set(head)
    const gap = base64Into(salt, line, head.length)
    line[gap] = 0x20
    line[base64Into(part, line, gap + 1)] = 0x0a
    this.#lines++
    this.#digest.update(line)
    return line
  }

  /** An E line. Only for an erasing record that the pack holds; the caller sorts by seq, then name. */
  erased(seq: number, name: string, erasingSeq: number): Uint8Array {
    this.#enter("E")
    return this.#emit(`E ${seq} ${name} ${erasingSeq}`)
  }

  /** Z and N. `digest` is what Z names: the SHA-256 of all bytes before it. */
  async close(
    sign: PackSign,
    keyName: string,
    keyId: Uint8Array
  ): Promise<{ readonly bytes: Uint8Array; readonly digest: Uint8Array }> {
    this.#enter("Z")
    const digest = this.#digest.digest()
    const text = packNoteText(this.#origin, this.#header!.tree_size, digest)
    const note = formatNote(text, [signatureLine(keyName, keyId, await sign(utf8(text)))])
    return { bytes: utf8(`Z ${this.#lines} ${toHex(digest)}\nN ${noteBase64(note)}\n`), digest }
  }

  #enter(tag: string): void {
    const { kind } = this.#header ?? { kind: "full" }
    if (!tagsAfter(kind, this.#tag).includes(tag))
      throw new Error(
        `A ${kind} pack has no ${tag} line ${this.#tag === "" ? "before it is open" : `after ${this.#tag}`}.`
      )
    this.#tag = tag
  }

  #emit(...lines: ReadonlyArray<string | Uint8Array>): Uint8Array {
    const bytes = concatBytes(...lines.flatMap((line) => [typeof line === "string" ? utf8(line) : line, NEWLINE]))
    this.#lines += lines.length
    this.#digest.update(bytes)
    return bytes
  }
}

/** Starts a pack of the chain with this origin. Spec: format 1 section 5. */
export const packLines = (crypto: Crypto, origin: string): PackLines => new PackLines(crypto, origin)

/** The text that N signs. Spec: format 1 section 5. */
export const packNoteText = (origin: string, treeSize: number, digest: Uint8Array): string =>
  `${packNoteName(origin)}\n${treeSize}\n${toBase64(digest)}\n`

const NEWLINE = Uint8Array.of(0x0a)

const noteBase64 = (note: string | Uint8Array): string => toBase64(typeof note === "string" ? utf8(note) : note)

const hashesBase64 = (hashes: ReadonlyArray<Uint8Array>): ReadonlyArray<string> =>
  hashes.map((hash) => {
    if (hash.length !== HASH_BYTES) throw new RangeError(`A hash has ${HASH_BYTES} bytes, not ${hash.length}.`)
    return toBase64(hash)
  })
