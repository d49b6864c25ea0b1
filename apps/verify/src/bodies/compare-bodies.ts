/** Compares every record of a checked pack with the catalogue: the members of its body, and its parts. */
import { checkBody, checkParts, isKeptPart, kindRow } from "@flyball/evidence"
import type { PackFile } from "../pack-file.ts"
import { type PackRecord, readPackSizes } from "../replay/pack-records.ts"
import { BodyCount, type BodiesReport } from "./bodies-report.ts"

/**
 * The result. Precondition: the integrity of the pack is `ok`. Its kind does not matter.
 *
 * Verdicts do not rest on bodies: a reader of format 1 accepts additions of a later writer. So this check is a separate
 * option.
 *
 * - Spec: format 1 sections 1.2 and 8; decision 0035.
 */
export const compareBodies = async ({ content }: PackFile): Promise<BodiesReport> => {
  const count = new BodyCount()
  await readPackSizes(content, (record) =>
    count.add(record, kindRow(record.kind) === null ? "unknown" : problemOf(record))
  )
  return count.report()
}

/** Describes the problem with a record of a known kind; null when there is none. */
const problemOf = ({ body, kind, parts }: PackRecord<number | null>): string | null =>
  checkBody(kind, body) ??
  checkParts(
    kind,
    [...parts].map(([name, bytes]) => ({ name, bytes }))
  ) ??
  (kind === "part.erased" && isKeptPart(String(body["name"])) ? "It erases a part that may never be erased." : null)
