/**
 * Verifies an evidence pack: no network, no code out of the pack, memory that does not grow with it. Spec: format 1
 * section 6.
 */
import type { Crypto } from "../crypto.ts"
import { conclude, concludeUnreadable } from "./conclude.ts"
import { Unreadable } from "./findings.ts"
import { PackReading } from "./pack-reading.ts"
import { rereadParts } from "./part-reread.ts"
import type { PartRun } from "./part-run.ts"
import type { RecordRun, RunAhead } from "./record-run.ts"
import type { Report } from "./report.ts"
import { readTrust } from "./trust.ts"

/** Bytes in chunks of any size. A chunk may be used again once the next is asked for. */
export type PackChunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** A chunk that begins with a line, and the run of records or D lines that somebody found at its beginning. */
export interface CheckedBlock {
  readonly bytes: Uint8Array
  readonly run: RecordRun | PartRun | null
  /** Runs of records that somebody found anywhere in it, ascending. */
  readonly runs?: ReadonlyArray<RunAhead>
}

/** What a user of the verifier trusts and asks for. Everything is optional; without a pinned key the best exit is 2. */
export interface VerifyOptions {
  /** Keys of the log, and of cosigners, got from their owners. */
  readonly vkeys?: ReadonlyArray<string>
  /** A policy file (C2SP tlog-policy). */
  readonly policy?: Uint8Array | string
  /** A checkpoint note kept from an earlier look at this chain. */
  readonly trustedCheckpoint?: Uint8Array | string
  readonly requireCompleteness?: "full" | "range" | "any"
  /** How old the newest cosignature may be; `nowMs` is then needed. */
  readonly maxAgeMs?: number
  readonly nowMs?: number
  /** Sizes whose roots the report should hold, where the pack is full. */
  readonly rootsAt?: ReadonlyArray<number>
  /** Shown in the report. */
  readonly file?: string
  /**
   * Reads the same bytes again, so that memory stays flat whatever the number of parts. Without it, about 34 bytes a
   * part are kept.
   */
  readonly reopen?: () => PackChunks
  /**
   * Each record as it is read, good or bad; the bytes are valid during the call. `seq` is null where it cannot be read.
   */
  readonly onRecord?: (bytes: Uint8Array, seq: number | null) => void
  /** After each chunk. */
  readonly onProgress?: (progress: { readonly bytes: number; readonly records: number }) => void
}

/**
 * Verifies one pack and reports on it. What is wrong with the pack is in the report.
 *
 * - Fails: rejects with `UnusableTrust` when a vkey, policy or trusted checkpoint cannot be used, and with whatever the
 *   chunks fail with.
 */
export const verifyPack = (crypto: Crypto, chunks: PackChunks, options: VerifyOptions = {}): Promise<Report> =>
  verifyBlocks(crypto, chunks, options)

/**
 * `verifyPack` of chunks into which somebody may have looked ahead: the same report, sooner.
 *
 * `partBudget`: see `ReadingOptions`. With 0, a pack whose D or E lines do come is read twice; the report is the same.
 */
export const verifyBlocks = async (
  crypto: Crypto,
  chunks: PackChunks | AsyncIterable<CheckedBlock>,
  options: VerifyOptions,
  partBudget: number = PART_BUDGET_BYTES
): Promise<Report> => {
  const trust = readTrust(crypto, options)
  const { file = null, maxAgeMs, nowMs, reopen, requireCompleteness = "any", rootsAt = [] } = options
  if (maxAgeMs !== undefined && nowMs === undefined)
    throw new TypeError("maxAgeMs needs nowMs: the verifier has no clock of its own.")
  const reading = new PackReading(crypto, {
    rootsAt: trust.checkpoint === null ? rootsAt : [...rootsAt, trust.checkpoint.size],
    partBudget,
    reread: reopen === undefined ? null : () => rereadParts(reopen()),
    onRecord: options.onRecord ?? null
  })
  const readable = await readAll(reading, chunks, options.onProgress)
  if (!readable) return concludeUnreadable(reading, file)
  const freshness = maxAgeMs === undefined ? null : { maxAgeMs, nowMs: nowMs! }
  return conclude(crypto, reading, trust, { completeness: requireCompleteness, freshness }, file)
}

/**
 * Commitments kept before a pack that can be read again is read again instead: about 120,000 parts. More would be
 * sooner found, and take the verifier past the 150 MB that it promises.
 */
export const PART_BUDGET_BYTES = 4 * 1024 * 1024

/** Reads to the end; false when a line cannot be read, with the finding noted. */
const readAll = async (
  reading: PackReading,
  chunks: PackChunks | AsyncIterable<CheckedBlock>,
  onProgress: VerifyOptions["onProgress"]
): Promise<boolean> => {
  const { reader } = reading
  let bytes = 0
  // A fault between lines (a stream that ends, a broken compression) belongs to the line that should have come.
  let between = true
  try {
    for await (const chunk of chunks) {
      if ("run" in chunk) reading.feed(chunk.bytes, chunk.run, chunk.runs)
      else reading.feed(chunk)
      for (;;) {
        const run = reading.run()
        if (run !== undefined) await run
        if (!reader.next()) break
        between = false
        const later = reading.line()
        if (later !== undefined) await later
        between = true
      }
      if (reader.tooLong) break
      bytes += "run" in chunk ? chunk.bytes.length : chunk.length
      onProgress?.({ bytes, records: reading.records?.count ?? 0 })
    }
    reading.end()
    return true
  } catch (cause) {
    if (!(cause instanceof Unreadable)) throw cause
    const { code, expected, found } = cause
    reading.findings.add(code, { line: between ? reader.line + 1 : reader.line, expected, found })
    return false
  }
}
