/** The summary of a pack. */
import type { PackFile } from "../pack-file.ts"
import { readPackRecords } from "../replay/pack-records.ts"
import { isSummarized, Summarizer, summarizedParts } from "./summarize.ts"
import type { Summary } from "./summary.ts"

/**
 * Reads the records and disclosed parts of a pack of any kind once. Precondition: the integrity of the pack is `ok`.
 * `records`: how many it holds.
 */
export const summarizePack = async ({ content, crypto }: PackFile, records: number): Promise<Summary> => {
  const summarizer = new Summarizer(crypto.sha256)
  await readPackRecords(content, { kind: isSummarized, part: (name) => summarizedParts.has(name) }, (record, atMs) =>
    summarizer.take(record, atMs)
  )
  return summarizer.report(records)
}
