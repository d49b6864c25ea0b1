/** Compares every record of a checked pack with the catalogue: the members of its body, and its parts. */
import { checkBody, checkParts, isKeptPart, kindRow } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import type { BeginReading } from "../readings.ts"
import { sizeOf } from "../replay/pack-records.ts"
import { BodyCount, withBodies } from "./bodies-report.ts"

/**
 * Compares the bodies of a pack of any kind.
 *
 * Verdicts do not rest on bodies: a reader of format 1 accepts additions of a later writer. So this check is a separate
 * option.
 *
 * - Spec: format 1 sections 1.2 and 8; decision 0035.
 */
export const readBodies: BeginReading = async (_, { verdicts }) => {
  if (verdicts.integrity !== "ok") return { end: () => ({ effect: (report) => withBodies(report, null) }) }
  const count = new BodyCount()
  return {
    records: {
      kind: () => true,
      part: () => false,
      sizes: true,
      take: (record) => count.add(record, kindRow(record.kind) === null ? "unknown" : problemOf(record))
    },
    end: () => {
      const bodies = count.report()
      return { extras: { bodies }, effect: (report) => withBodies(report, bodies) }
    }
  }
}

/** Describes the problem with a record of a known kind; null when there is none. */
const problemOf = ({ body, kind, parts }: ReplayRecord): string | null =>
  checkBody(kind, body) ??
  checkParts(
    kind,
    [...parts].map(([name, part]) => ({ name, bytes: sizeOf(part) }))
  ) ??
  (kind === "part.erased" && isKeptPart(String(body["name"])) ? "It erases a part that may never be erased." : null)
