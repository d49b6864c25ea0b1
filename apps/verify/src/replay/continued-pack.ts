/**
 * The pack that holds the records before a range of the same chain. Each record has the hash of the one before it, so a
 * range that begins with the hash of that pack's last record continues it, and no other history.
 */
import { LineReader, MAX_LINE_BYTES, NO_RECORD, readRecord, toHex } from "@flyball/evidence"
import { type PackFile, verifyPackOf } from "../pack-file.ts"
import { type Earlier, earlierPacks } from "./earlier-packs.ts"

/**
 * Joins a checked range pack that begins at `from` with the pack of the records before it, and that one with those of
 * the chains before its own.
 *
 * - Fails: answers a sentence where one of them is not what it is given for.
 */
export const continuedPack = async (
  pack: PackFile,
  { from, origin }: { readonly from: number; readonly origin: string },
  given: ReadonlyArray<PackFile>
): Promise<Earlier | string> => {
  let beginning: PackFile | null = null
  const others: Array<PackFile> = []
  for (const one of given) {
    const { name } = one
    let last: Uint8Array | null = null
    const onRecord = (bytes: Uint8Array): void => void (last = bytes.slice())
    const { header, origin: of, verdicts } = await verifyPackOf(one, { vkeys: [], onRecord })
    if (verdicts.integrity !== "ok" || header === null || last === null)
      return `${NOT_MADE} the records of ${name} are not what that pack claims. Verify it by itself to see why.`
    if (of !== origin) {
      others.push(one)
      continue
    }
    if (beginning !== null) return `${NOT_MADE} ${beginning.name} and ${name} are both of ${origin}. Give one of them.`
    if (header.kind === "sparse" || header.from > 0)
      return `${NOT_MADE} ${name} does not have all records of ${origin} from record 0 on. Give a pack that does.`
    if (header.to + 1 !== from) return apart(name, header.to, from)
    if (toHex(one.crypto.leafHash(last)) !== (await firstLink(pack)))
      return `${NOT_MADE} this pack does not continue ${name}: record ${from} names another record before it.`
    beginning = one
  }
  if (beginning === null)
    return `${NOT_MADE} no pack given with --previous is of ${origin}, so the records before ${from} are not known.`
  const earlier = await earlierPacks(beginning, others)
  return typeof earlier === "string"
    ? earlier
    : { ...earlier, packs: [...earlier.packs, { pack: beginning, before: 0 }] }
}

const NOT_MADE = "Evaluations were not recomputed:"

const apart = (name: string, to: number, from: number): string =>
  to + 1 < from
    ? `${NOT_MADE} ${name} ends at record ${to}, and this pack begins at record ${from}: the records between ` +
      "are missing."
    : `${NOT_MADE} ${name} ends at record ${to}, and this pack begins at record ${from}. Give a pack that ends at ` +
      `record ${from - 1}.`

/** The hash that the first record of a checked pack names. */
const firstLink = async ({ content }: PackFile): Promise<string> => {
  const reader = new LineReader(null, MAX_LINE_BYTES)
  for await (const chunk of content()) {
    reader.feed(chunk)
    while (reader.next()) {
      if (reader.bytes[reader.start] !== RECORD) continue
      const read = readRecord(reader.bytes.slice(reader.start + 2, reader.end))
      return read.ok ? read.record.prev : NO_RECORD
    }
  }
  return NO_RECORD
}

const RECORD = 0x52
