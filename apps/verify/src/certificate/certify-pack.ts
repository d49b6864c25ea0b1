/** Computes the stop certificate of one activation from the records of a pack. */
import type { Report } from "@flyball/evidence"
import { certifiedKinds, certifiedParts, type StopCertificate, StopCertifier } from "@flyball/rules"
import { whyNotIntact } from "../assurance.ts"
import type { BeginReading, Found } from "../readings.ts"
import { worstExit } from "../worst-exit.ts"

/** Makes the certificate of the requested activation from a full or range pack. */
export const readCertificate: BeginReading = async ({ certificate: activationId }, report) => {
  const end = (certificate: StopCertificate | null): Found => ({
    extras: { certificate },
    effect: (noted) => withCertificate(noted, activationId!, certificate)
  })
  if (whyNotCertified(report) !== null) return { end: () => end(null) }
  const certifier = new StopCertifier(activationId!)
  return {
    records: {
      kind: (kind) => certifiedKinds.has(kind),
      part: (name) => certifiedParts.has(name),
      take: (record, atMs) => certifier.take(record, atMs)
    },
    end: () => end(certifier.report())
  }
}

/** Why no certificate can be made; null where one may be. A pack that leaves records out shows no absence. */
const whyNotCertified = (report: Report): string | null =>
  report.header === null || report.verdicts.integrity !== "ok"
    ? `No certificate was made: ${whyNotIntact(report)}.`
    : report.header.kind === "sparse"
      ? "No certificate was made: it needs a full or range pack, because it also states what did not happen."
      : null

/** The report where a certificate was requested. One that is missing, incomplete or has findings is status 2. */
const withCertificate = (report: Report, activationId: string, certificate: StopCertificate | null): Report => {
  const sentences =
    certificate === null
      ? [whyNotCertified(report) ?? `No certificate was made: no record of this pack activates ${activationId}.`]
      : certificate.incomplete
  return sentences.length === 0 && (certificate?.findings ?? []).length === 0
    ? report
    : { ...report, not_checked: [...sentences, ...report.not_checked], exit: worstExit(report.exit, 2) }
}
