/** The summary of a pack. */
import { toHex } from "@flyball/evidence"
import type { PackFile } from "../pack-file.ts"
import { readPackRecords } from "../replay/pack-records.ts"
import { version } from "../version.ts"
import { isRead } from "./report-rows.ts"
import { type RecordEntry, Summarizer } from "./summarize.ts"
import type { Source, Summary } from "./summary.ts"

/**
 * Reads the file, and the records and disclosed parts of a pack of any kind, once each. Precondition: the integrity of
 * the pack is `ok`. `records`: how many it holds. `onRecord` gets each of them, in order.
 */
export const summarizePack = async (
  pack: PackFile,
  records: number,
  onRecord?: (entry: RecordEntry) => void
): Promise<Summary> => {
  const { content, crypto } = pack
  const summarizer = new Summarizer(crypto.sha256, onRecord)
  await readPackRecords(content, { kind: () => true, part: isRead }, (record, atMs) => summarizer.take(record, atMs))
  return summarizer.report(records, await sourceOf(pack))
}

const sourceOf = async ({ bytes, crypto }: PackFile): Promise<Source> => {
  const hasher = crypto.hasher()
  let length = 0
  for await (const chunk of bytes()) {
    hasher.update(chunk)
    length += chunk.length
  }
  return { sha256: toHex(hasher.digest()), bytes: length, verifier: version }
}
