/** The summary of a pack. */
import { type Report, toHex } from "@flyball/evidence"
import type { PackFile } from "../pack-file.ts"
import type { BeginReading } from "../readings.ts"
import { version } from "../version.ts"
import { isRead } from "./report-rows.ts"
import { Summarizer } from "./summarize.ts"
import type { Source } from "./summary.ts"

/** Makes the summary of a pack of any kind; none of one that is not intact: it would be believed all the same. */
export const readSummary: BeginReading = async ({ onRecord, pack, summary: wanted }, { counts, exit, verdicts }) => {
  if (verdicts.integrity !== "ok" || (exit !== 0 && exit !== 2))
    return { end: () => (wanted === "required" ? { effect: withoutSummary } : {}) }
  const summarizer = new Summarizer(pack.crypto.sha256, onRecord)
  return {
    records: { kind: () => true, part: isRead, take: (record, atMs) => summarizer.take(record, atMs) },
    end: async () => ({ extras: { summary: summarizer.report(counts.records, await sourceOf(pack)) } })
  }
}

/** Such a pack has another status than 0 already. */
const withoutSummary = (report: Report): Report => ({
  ...report,
  not_checked: ["No summary was made: this pack is not intact.", ...report.not_checked]
})

const sourceOf = async ({ bytes, crypto }: PackFile): Promise<Source> => {
  const hasher = crypto.hasher()
  let length = 0
  for await (const chunk of bytes()) {
    hasher.update(chunk)
    length += chunk.length
  }
  return { sha256: toHex(hasher.digest()), bytes: length, verifier: version }
}
