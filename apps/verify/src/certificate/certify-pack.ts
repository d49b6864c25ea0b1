/** Computes the stop certificate of one activation from the records of a pack. */
import type { Report } from "@flyball/evidence"
import { certifiedKinds, certifiedParts, type StopCertificate, StopCertifier } from "@flyball/rules"
import { whyNotIntact } from "../assurance.ts"
import type { PackFile } from "../pack-file.ts"
import { readPackRecords } from "../replay/pack-records.ts"
import { worstExit } from "../worst-exit.ts"

/** Reads a full or range pack once. Null where no record of it activates this. Precondition: its integrity is `ok`. */
export const certifyPack = async ({ content }: PackFile, activationId: string): Promise<StopCertificate | null> => {
  const certifier = new StopCertifier(activationId)
  await readPackRecords(
    content,
    { kind: (kind) => certifiedKinds.has(kind), part: (name) => certifiedParts.has(name) },
    (record, atMs) => certifier.take(record, atMs)
  )
  return certifier.report()
}

/** Why no certificate can be made; null where one may be. A pack that leaves records out shows no absence. */
export const whyNotCertified = (report: Report): string | null =>
  report.header === null || report.verdicts.integrity !== "ok"
    ? `No certificate was made: ${whyNotIntact(report)}.`
    : report.header.kind === "sparse"
      ? "No certificate was made: it needs a full or range pack, because it also states what did not happen."
      : null

/** The report where a certificate was requested. One that is missing, incomplete or has findings is status 2. */
export const withCertificate = (report: Report, activationId: string, certificate: StopCertificate | null): Report => {
  const sentences =
    certificate === null
      ? [whyNotCertified(report) ?? `No certificate was made: no record of this pack activates ${activationId}.`]
      : certificate.incomplete
  return sentences.length === 0 && (certificate?.findings ?? []).length === 0
    ? report
    : { ...report, not_checked: [...sentences, ...report.not_checked], exit: worstExit(report.exit, 2) }
}
