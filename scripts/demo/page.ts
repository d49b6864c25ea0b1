/** The demo's page: plain sentences from the figures. */
import { analysedLines } from "./analysed.ts"
import { boundLines } from "./bounds.ts"
import { cutLines } from "./cut.ts"
import { modelChangedLines } from "./model-changed.ts"
import { paidLines } from "./paid.ts"
import { plannedLines } from "./planned.ts"
import { platformLines } from "./platform.ts"
import { replayedLines } from "./replayed.ts"
import { reviewedLines } from "./reviewed.ts"
import { stoppedLines } from "./stopped.ts"
import { toolsChangedLines } from "./tools-changed.ts"
import type { Figures } from "./story.ts"
import { waitedLines } from "./waited.ts"

/** Writes the page. The same figures give the same text. */
export const pageOf = (figures: Figures): string => {
  const { erased, full, governed, sparse, tampered, reported } = figures
  const broken = tampered.findings.find((finding) => finding.code === "E_PREV")
  return [
    "What Flyball just did",
    "=====================",
    "",
    `It registered ${figures.agents.length} agents and sealed all ${figures.decisions} of their real decisions ` +
      "into one chain:",
    ...figures.agents.map((agent) => `  - ${agent.name}: ${agent.decisions} decisions`),
    `The first agent's decisions were then sent a second time. All ${figures.again} were recognised, none was ` +
      "recorded twice.",
    "",
    `A key was minted, and a webhook that subscribes to ${reported.event} was notified. Its receiver answered ` +
      `${reported.answers.join(", ")}: it was away twice, and took the event at attempt ${reported.answers.length},`,
    `six simulated minutes later. ${reported.believed} requests, ${reported.ids} event id, and the npm library ` +
      `standardwebhooks makes the same signature for each; the delivery ${reported.state}.`,
    "",
    `${governed.card.agent} showed a card signed by a key that the server trusts: ${governed.card.verdict}. ` +
      `The same card with another signature: ${governed.card.forged}.`,
    `${governed.transferred.owner} answers for it now, and it was activated. ${governed.orphan.agent} has no ` +
      `owner, so it was not (${governed.orphan.refused}).`,
    `A simulated week later ${governed.orphan.suspended} agents that nobody answers for were suspended; it is ` +
      `${governed.orphan.reason}, by ${governed.orphan.by}.`,
    "",
    `One customer asked to be forgotten, so the part "${erased.name}" of record ${erased.seq} was erased. The ` +
      "chain now has",
    `${figures.records} records and still adds up; the erasure is a record itself.`,
    "",
    `A full evidence pack was exported and checked offline with the pinned key (exit status ${full.status}):`,
    `  integrity ${full.verdicts.integrity}, authenticity ${full.verdicts.authenticity}, completeness ` +
      `${full.verdicts.completeness}, anchoring ${full.verdicts.anchoring}`,
    `  ${full.counts.records} records; parts: ${full.counts.parts_disclosed} disclosed and matching, ` +
      `${full.counts.parts_withheld} withheld, ${full.counts.parts_erased} erased`,
    "",
    `A sparse pack, the records about ${sparse.agent} only and no part disclosed (exit status ${sparse.status}):`,
    `  integrity ${sparse.verdicts.integrity}, authenticity ${sparse.verdicts.authenticity}, completeness ` +
      `${sparse.verdicts.completeness}, anchoring ${sparse.verdicts.anchoring}`,
    `  ${sparse.counts.records} records, each with its own proof; ${sparse.counts.parts_withheld} parts ` +
      `withheld, ${sparse.counts.parts_erased} erased`,
    "",
    `Then one byte of record ${tampered.changedSeq} in the full pack was changed, "ok" to "Ok". The verifier ` +
      `(exit status ${tampered.status}) says:`,
    `  integrity ${tampered.verdicts.integrity}, authenticity ${tampered.verdicts.authenticity}`,
    broken === undefined || broken.seq === null
      ? "  but it did not name the record"
      : `  record ${broken.seq} was sealed after another record ${broken.seq - 1} than the one in the pack: ` +
        `record ${broken.seq - 1} was changed`,
    "  findings: " +
      tampered.findings.map(({ code, seq }) => (seq === null ? code : `${code} at record ${seq}`)).join(", "),
    "",
    ...boundLines(figures.bounded),
    ...replayedLines(figures.replayed),
    "",
    ...stoppedLines(figures.halted),
    "",
    ...reviewedLines(figures.approved),
    "The replay above made these evaluations, reviews and approvals again too: " +
      `${figures.replayed.mismatches} differences.`,
    "",
    ...toolsChangedLines(figures.changed),
    "",
    ...modelChangedLines(figures.other, figures.replayed.comparison),
    "",
    ...waitedLines(figures.ran),
    "",
    ...cutLines(figures.cut),
    "",
    ...analysedLines(figures.analysed),
    "",
    ...paidLines(figures.paid),
    "",
    ...plannedLines(figures.planned),
    "",
    ...platformLines(figures.platform),
    "",
    "At last the server's own store was recomputed and compared with its records (flyball check): no difference.",
    ""
  ].join("\n")
}
