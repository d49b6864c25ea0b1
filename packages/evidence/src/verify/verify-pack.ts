/**
 * Verifies an evidence pack in one pass. No network, no code from the pack, and memory that does not grow with the
 * pack.
 *
 * A pack is good because of this argument. Each step rests on the one before it:
 *
 * 1. Key. The user names the keys that they trust. Nothing in the pack adds to them (`trust.ts`).
 * 2. Checkpoint. Such a key signed the checkpoint: an origin, a tree size and a root hash (`checks/signatures.ts`).
 * 3. Tree. The hashes of the records lead to that root, so the signature covers exactly these records
 * (`checks/tree.ts`).
 * 4. Records. Each record has the one permitted form and names the hash of the record before it (`checks/records.ts`).
 * 5. Parts. Each disclosed part has the commitment that its record states, and each erased part is named by a later
 *    record (`checks/parts.ts`).
 * 6. Closing. The log signed the digest of the whole file (`checks/closing.ts`).
 * 7. Anchors. Witnesses, and a checkpoint that the user kept, show the same history (`checks/anchors.ts`).
 * 8. Not checked. The report lists everything that the steps above do not cover (`not-checked.ts`).
 *
 * A pack holds its lines in an order that allows one pass: checkpoint, records with the tree, parts, closing. The
 * signatures are judged after the last line, because records may name keys that help to describe an unknown signer.
 *
 * Spec: format 1 sections 5 and 6.
 */
import type { Crypto } from "../crypto.ts"
import type { Freshness } from "./checks/anchors.ts"
import { judgeAnchors } from "./checks/anchors.ts"
import { readClosingLine, readDigestLine } from "./checks/closing.ts"
import { PartMemory, readPartsAgain } from "./checks/committed-parts.ts"
import { checkOlderCheckpoint } from "./checks/consistency.ts"
import { hashFields, numberField } from "./checks/fields.ts"
import { readCheckpointLine, readHead, readHintLine, readTokenLine } from "./checks/head.ts"
import { PartChecks, readDisclosedLine, readErasedLine } from "./checks/parts.ts"
import { RecordChecks } from "./checks/records.ts"
import { judgeSignatures } from "./checks/signatures.ts"
import { TreeChecks } from "./checks/tree.ts"
import type { Findings } from "./findings.ts"
import { Unreadable } from "../pack/unreadable.ts"
import type { PackExtras, PackHead, ReadPack } from "./pack-facts.ts"
import { PackFacts } from "./pack-facts.ts"
import type { PackChunks } from "./pack-lines.ts"
import { PackCursor } from "./pack-lines.ts"
import { reportOn, reportUnreadable } from "./report-of.ts"
import type { Report } from "./report.ts"
import { readTrust } from "./trust.ts"

export type { PackChunks } from "./pack-lines.ts"

/**
 * Trust settings and requirements of a user of the verifier. All members are optional. Without a pinned key the best
 * exit is 2.
 */
export interface VerifyOptions {
  /** Keys of the log and of cosigners, obtained from their owners. */
  readonly vkeys?: ReadonlyArray<string>
  /** A policy file (C2SP tlog-policy). */
  readonly policy?: Uint8Array | string
  /** A checkpoint note that the user kept from an earlier check of this chain. */
  readonly trustedCheckpoint?: Uint8Array | string
  readonly requireCompleteness?: "full" | "range" | "any"
  /** Greatest age of the newest cosignature. Needs `nowMs`. */
  readonly maxAgeMs?: number
  readonly nowMs?: number
  /** Sizes whose roots the report includes, when the pack is full. */
  readonly rootsAt?: ReadonlyArray<number>
  /** Appears in the report. */
  readonly file?: string
  /**
   * Reads the same bytes again. A pack with D or E lines is then read twice, and memory stays flat for any number of
   * parts. Without it, about 50 bytes for each part of the pack are kept.
   */
  readonly reopen?: () => PackChunks
  /**
   * Receives each record, good or bad. The bytes are valid during the call. `seq` is null for a record that cannot be
   * read.
   */
  readonly onRecord?: (bytes: Uint8Array, seq: number | null) => void
  /** Called after each chunk. */
  readonly onProgress?: (progress: { readonly bytes: number; readonly records: number }) => void
}

/**
 * Verifies one pack. Everything that is wrong with the pack is in the report.
 *
 * - Fails: rejects with `UnusableTrust` when a vkey, policy or trusted checkpoint cannot be used, and with any error
 *   that the chunks fail with.
 * - Spec: format 1 sections 5 and 6.
 */
export const verifyPack = async (crypto: Crypto, chunks: PackChunks, options: VerifyOptions = {}): Promise<Report> => {
  const trust = readTrust(crypto, options)
  const { file = null, onProgress, requireCompleteness = "any", rootsAt = [] } = options
  const freshness = freshnessOf(options)

  const facts = new PackFacts(crypto)
  const lines = new PackCursor(crypto, chunks, (bytes) => onProgress?.({ bytes, records: facts.records?.count ?? 0 }))
  let pack: ReadPack
  try {
    pack = await readPack(crypto, lines, facts, {
      ...options,
      rootsAt: trust.checkpoint === null ? rootsAt : [...rootsAt, trust.checkpoint.size]
    })
  } catch (cause) {
    if (!(cause instanceof Unreadable)) throw cause
    const { code, expected, found } = cause
    facts.findings.add(code, { line: lines.faultLine, expected, found })
    return reportUnreadable(facts, file)
  } finally {
    await lines.close()
  }

  const signatures = judgeSignatures(crypto, pack, trust)
  const anchors = judgeAnchors(crypto, pack, { trust, freshness, checkpoint: signatures.checkpoint })
  return reportOn(pack, { trust, signatures, anchors, requireCompleteness, file })
}

/** Reads and checks every line, in the order of the file. Throws `Unreadable` at a line that cannot be read. */
const readPack = async (
  crypto: Crypto,
  lines: PackCursor,
  facts: PackFacts,
  { onRecord, reopen, rootsAt = [] }: Pick<VerifyOptions, "onRecord" | "reopen" | "rootsAt">
): Promise<ReadPack> => {
  const { findings } = facts
  const head = await readHead(lines, facts)
  const tree = new TreeChecks(crypto, findings, head.header, head.checkpoint, rootsAt)
  const extras = await readExtras(crypto, lines, facts, head)

  const memory = reopen === undefined ? new PartMemory() : null
  const records = (facts.records = new RecordChecks(crypto, head, facts, memory))
  await checkRecords(lines, records, tree, onRecord)

  const parts = new PartChecks(facts, records, () => (memory === null ? readPartsAgain(reopen!()) : memory.parts()))
  try {
    await checkParts(crypto, lines, parts)
    const closing = await checkClosing(lines, findings, head)
    return { ...facts, ...head, ...extras, records, tree, parts, closing }
  } finally {
    await parts.close()
  }
}

/** The lines between the checkpoint and the records: an older checkpoint, timestamp tokens, key hints. */
const readExtras = async (crypto: Crypto, lines: PackCursor, facts: PackFacts, head: PackHead): Promise<PackExtras> => {
  let older: PackExtras["older"] = null
  if (lines.at("G")) {
    const checkpoint = readCheckpointLine(lines, facts, head.origin)
    await lines.next()
    const proof = hashFields(lines.fields(), 0)
    const claim = { older: checkpoint, newer: head.checkpoint, proof }
    older = { ...checkpoint, holds: checkOlderCheckpoint(crypto, facts.findings, claim, lines.line) }
    await lines.next()
  }
  let tokens = 0
  for (; lines.at("W"); tokens++) {
    readTokenLine(lines)
    await lines.next()
  }
  while (lines.at("K")) {
    facts.hints.add(readHintLine(lines), head.origin, lines.line)
    await lines.next()
  }
  return { older, tokens }
}

/** The R lines, with their place in the tree: an I line for each record of a sparse pack, one S line in other packs. */
const checkRecords = async (
  lines: PackCursor,
  records: RecordChecks,
  tree: TreeChecks,
  onRecord: VerifyOptions["onRecord"]
): Promise<void> => {
  while (lines.at("R")) {
    const { bytes, end, start } = lines
    records.check(bytes, start, end, lines.line)
    tree.push(records.leaf)
    onRecord?.(bytes.subarray(start, end), records.seq)
    // Waits only where a new chunk is needed. A promise for each record would take longer than parts of its check.
    const chunk = lines.next()
    if (chunk !== undefined) await chunk
    if (!lines.at("I")) continue
    const fields = lines.fields()
    const provenSeq = numberField(fields, 0, "the seq of a record")
    tree.prove(records.leaf, records.seq, provenSeq, hashFields(fields, 1), lines.line)
    await lines.next()
  }
  if (!lines.at("S")) return
  const fields = lines.fields()
  const from = numberField(fields, 0, "the first seq")
  const to = numberField(fields, 1, "the last seq")
  tree.range(from, to, hashFields(fields, 2), lines.line)
  await lines.next()
}

/**
 * The D lines, checked against the commitments in the records, and the E lines, checked against the erasing records.
 */
const checkParts = async (crypto: Crypto, lines: PackCursor, parts: PartChecks): Promise<void> => {
  while (lines.at("D")) {
    const { name, part, salt, seq } = readDisclosedLine(lines)
    await parts.disclose(lines.line, seq, name, crypto.commitment(salt, name, part))
    await lines.next()
  }
  await parts.endDisclosed()
  while (lines.at("E")) {
    const { erasingSeq, name, seq } = readErasedLine(lines)
    parts.erase(lines.line, seq, name, erasingSeq)
    await lines.next()
  }
}

/** The Z and N lines: the digest of all bytes before them, and the log's signature over it. */
const checkClosing = async (
  lines: PackCursor,
  findings: Findings,
  { checkpoint, origin }: PackHead
): Promise<ReadPack["closing"]> => {
  const digest = readDigestLine(findings, lines)
  await lines.next()
  const { line } = lines
  const note = readClosingLine(findings, lines, { origin, size: checkpoint.size, digest })
  // Nothing may follow.
  await lines.next()
  return { line, note }
}

const freshnessOf = ({ maxAgeMs, nowMs }: VerifyOptions): Freshness | null => {
  if (maxAgeMs === undefined) return null
  if (nowMs === undefined) throw new TypeError("maxAgeMs needs nowMs: the verifier has no clock of its own.")
  return { maxAgeMs, nowMs }
}
