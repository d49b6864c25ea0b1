/** The summary of a pack file. */
import { detectCompression, fileSource, nodeCrypto, packContent } from "@flyball/evidence/node"
import { readPackRecords } from "../replay/pack-records.ts"
import { isSummarized, Summarizer, summarizedParts } from "./summarize.ts"
import type { Summary } from "./summary.ts"

/**
 * Reads the records and disclosed parts of a pack of any kind once. Precondition: the integrity of the pack is `ok`.
 * `records`: how many it holds.
 */
export const summarizePack = async (path: string, records: number): Promise<Summary> => {
  await using source = await fileSource(path)
  const compression = await detectCompression(source)
  const summarizer = new Summarizer(nodeCrypto.sha256)
  await readPackRecords(
    () => packContent(source, compression),
    { kind: isSummarized, part: (name) => summarizedParts.has(name) },
    (record, atMs) => summarizer.take(record, atMs)
  )
  return summarizer.report(records)
}
