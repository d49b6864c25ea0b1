/**
 * Describes, in sentences, what a verifier ignored or could not check. A report without these would promise more than
 * it knows.
 */
import { toHex } from "../bytes.ts"
import type { Findings } from "./findings.ts"
import type { ReadPack } from "./pack-facts.ts"
import type { Counts } from "./report.ts"
import { MAX_LISTED_FINDINGS } from "./report.ts"
import type { Trust } from "./trust.ts"

/** The sentences for a pack that was read to its end. */
export const notChecked = (pack: ReadPack, trust: Trust, counts: Counts): ReadonlyArray<string> => {
  const { findings, header, hints, origin, records, tokens } = pack
  const sentences: Array<string> = [...unlistedFindings(findings)]
  if (trust.logs.length === 0)
    sentences.push(
      "No key of the log was pinned, so nothing here says who signed. Get the log's vkey from its owner, by " +
        "another way than this pack, and pin it (--vkey)."
    )
  for (const vkey of trust.logs) {
    if (vkey.name !== origin)
      sentences.push(`The pinned key ${toHex(vkey.keyId)} of ${vkey.name} is of another origin and was ignored.`)
  }
  for (const key of trust.policy?.unsupported ?? [])
    sentences.push(`The policy's ${key} was ignored: its signatures cannot be checked here.`)
  if (counts.ignored_signatures > 0)
    sentences.push(
      `${plural(counts.ignored_signatures, "signature line")} by keys that nobody pinned, or of a type not ` +
        `checked here, ${counts.ignored_signatures === 1 ? "was" : "were"} ignored.`
    )
  if (counts.ignored_signatures > 0 && hints.passedOver > 0)
    sentences.push(
      `${plural(hints.passedOver, "key")} that records of this pack name ` +
        `${hints.passedOver === 1 ? "was" : "were"} not read: beside those that its checkpoints and K lines ` +
        "name, a reader keeps the latest 256. An ignored line may be by one of them."
    )
  const badHints = hints.unreadableLines
  if (badHints.length > 0) {
    const were = badHints.length === 1 ? "was" : "were"
    sentences.push(
      `${plural(badHints.length, "key hint")} (K, line ${badHints.join(", ")}) ${were} ignored: no vkey can be ` +
        "read there."
    )
  }
  if (tokens > 0)
    sentences.push(
      `${plural(tokens, "RFC 3161 timestamp token")} ${tokens === 1 ? "was" : "were"} not checked: no ` +
        "certificate of a timestamp authority was pinned."
    )
  if (hints.rotations > 0)
    sentences.push(
      "Key rotations are not followed; only pinned keys count. Seen: " +
        `${hints.rotationsListed.join("; ")}${hints.rotations > hints.rotationsListed.length ? "; and more" : ""}.`
    )
  if (header.kind === "sparse")
    sentences.push(
      "Whether more records match the pack's filter: a sparse pack proves the " +
        `${plural(records.count, "record")} it holds and nothing about what it leaves out.`
    )
  if (header.kind === "range")
    sentences.push(`Records before ${header.from} and after ${header.to}: they are outside this pack.`)
  if (counts.parts_withheld > 0)
    sentences.push(
      `${plural(counts.parts_withheld, "withheld part")}: only the commitments are in the pack, not the contents.`
    )
  if (pack.parts.skipped)
    sentences.push("Disclosed and erased parts: the records are out of order, so parts could not be matched with them.")
  return sentences
}

/** A sentence about findings that the report does not list. */
export const unlistedFindings = ({ count }: Findings): ReadonlyArray<string> => {
  const more = count - MAX_LISTED_FINDINGS
  return more > 0 ? [`${more} more findings are not listed.`] : []
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
