/**
 * A pack that can be read as often as needed, wherever it is: a file of Node, or one that a person chose in a browser.
 * Everything that reads packs takes this, so that the command and the page run the same code.
 */
import { type Crypto, type Report, verifyPack, type VerifyOptions } from "@flyball/evidence"

/** A pack, and what its hashes and signatures are checked with. */
export interface PackFile {
  /** For reports and sentences: a path, or the name of a chosen file. */
  readonly name: string
  readonly crypto: Crypto
  /** Reads the decompressed content from its beginning. A chunk is valid until the next one is requested. */
  readonly content: () => AsyncIterable<Uint8Array>
  /** Reads the file itself, compressed where it is. A chunk is valid until the next one is requested. */
  readonly bytes: () => AsyncIterable<Uint8Array>
  /** A text that differs once the file was replaced or written to. */
  readonly identity: () => Promise<string>
}

/** Verifies a pack. Fails: as `verifyPack` of `@flyball/evidence`. */
export const verifyPackOf = (pack: PackFile, options: VerifyOptions): Promise<Report> =>
  verifyPack(pack.crypto, pack.content(), { file: pack.name, ...options, reopen: pack.content })
