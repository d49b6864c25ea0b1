/** Verifies pack files with OpenSSL, compressed or not. */
import { availableParallelism } from "node:os"
import type { Comparison } from "../verify/compare.ts"
import { compareHistories, withComparison } from "../verify/compare.ts"
import { peekTreeSizes } from "../verify/peek.ts"
import type { Report } from "../verify/report.ts"
import type { VerifyOptions } from "../verify/verify-pack.ts"
import { PART_BUDGET_BYTES, verifyBlocks } from "../verify/verify-pack.ts"
import { CheckThreads } from "./check-threads.ts"
import { BLOCK_BYTES, blocksInTurn, checkedBlocks } from "./checked-blocks.ts"
import { endsWithoutPartLines } from "./closing-tags.ts"
import { nodeCrypto } from "./crypto.ts"
import { detectCompression, packContent } from "./decompress.ts"
import { fillingFrom, fillingOf } from "./filling.ts"
import { fileSource, PackFileUnusable } from "./pack-source.ts"
import { recordModule } from "./record-module.ts"

/** As for `verifyPack`, without what the file itself gives. */
export interface VerifyFileOptions extends Omit<VerifyOptions, "reopen"> {
  /**
   * How many threads check records, this one among them, or threads that run already. The report is the same. Default:
   * 2 where there are two cores,
   * and 1 for a file below 8 MiB. Each takes some 25 MB.
   */
  readonly threads?: number | CheckThreads
  /** Bytes that a thread takes at a time. Only a test has a reason to change it. */
  readonly blockBytes?: number
  /** Ends the reading: the promise rejects with its reason. */
  readonly signal?: AbortSignal
}

/** Starting a thread takes some 40 ms, in which this much is read without one. */
const THREADS_FROM_BYTES = 8 * 1024 * 1024
/** Bytes of a block where one thread does all. */
const OWN_BLOCK_BYTES = 256 * 1024
/** Making the program that finds records takes some 30 ms. */
const PROGRAM_FROM_BYTES = 8 * 1024 * 1024
/** More are sooner done, and take the verifier past the 150 MB that it promises. */
const MAX_DEFAULT_THREADS = 2

/**
 * Verifies a pack file; `.evp`, `.evp.gz` and `.evp.zst` alike, told apart by their first bytes.
 *
 * - Fails: rejects with `UnusableTrust`, `PackFileUnusable`, `CheckingThreadFailed`, the signal's reason, or Node's
 *   error when the file cannot be read.
 */
export const verifyPackFile = async (path: string, options: VerifyFileOptions = {}): Promise<Report> => {
  await using source = await fileSource(path)
  const compression = await detectCompression(source)
  const content = () => abortable(packContent(source, compression), options.signal)
  const all: VerifyOptions = { file: path, ...options, reopen: content }
  const {
    blockBytes = BLOCK_BYTES,
    onRecord,
    threads = source.size < THREADS_FROM_BYTES ? 1 : Math.min(availableParallelism(), MAX_DEFAULT_THREADS)
  } = options
  const partBudget = compression === "none" && (await endsWithoutPartLines(source)) ? 0 : PART_BUDGET_BYTES
  // A caller who wants to see every record sees it here, one after another.
  const alone = threads === 1 || onRecord !== undefined
  const program =
    alone && onRecord === undefined && (source.size >= PROGRAM_FROM_BYTES || options.blockBytes !== undefined)
      ? recordModule()
      : null
  const filling = () => (compression === "none" ? fillingFrom(source, options.signal) : fillingOf(content()))
  const report = alone
    ? await verifyBlocks(
        nodeCrypto,
        program === null
          ? content()
          : blocksInTurn(filling(), program, {
              blockBytes: options.blockBytes ?? OWN_BLOCK_BYTES,
              keepParts: partBudget > 0
            }),
        all,
        partBudget
      )
    : await withThreads(threads, (others) =>
        verifyBlocks(
          nodeCrypto,
          checkedBlocks(filling(), others, { blockBytes, keepParts: partBudget > 0 }),
          all,
          partBudget
        )
      )
  if (!(await source.unchanged()))
    throw new PackFileUnusable(
      "The file changed while it was read. Copy it to a place where nobody writes to it, and verify the copy."
    )
  return report
}

const withThreads = async <A>(
  threads: number | CheckThreads,
  use: (others: CheckThreads) => Promise<A>
): Promise<A> => {
  if (typeof threads !== "number") return use(threads)
  await using others = new CheckThreads(threads - 1)
  return await use(others)
}

async function* abortable(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined
): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted()
  for await (const chunk of chunks) {
    signal?.throwIfAborted()
    yield chunk
  }
}

/** Two packs side by side. */
export interface ComparedPacks {
  readonly report: Report
  readonly other: Report
  readonly comparison: Comparison
}

/**
 * Verifies two pack files and compares the histories that they show. `report` is on the first one and holds what the
 * comparison adds.
 *
 * - Fails: as {@link verifyPackFile}.
 */
export const comparePackFiles = async (
  path: string,
  otherPath: string,
  options: VerifyFileOptions = {}
): Promise<ComparedPacks> => {
  const {
    nowMs: _now,
    maxAgeMs: _age,
    onProgress: _progress,
    onRecord: _record,
    requireCompleteness: _require,
    trustedCheckpoint: _trusted,
    ...keys
  } = options
  // The sizes are needed before the roots can be: the checkpoints stand in a pack's third and fourth line, so this look
  // is short.
  const other = await verifyPackFile(otherPath, { ...keys, file: otherPath, rootsAt: await checkpointSizes(path) })
  const report = await verifyPackFile(path, {
    ...options,
    rootsAt: [...(options.rootsAt ?? []), ...other.roots.keys()]
  })
  const comparison = compareHistories(report, other)
  return { report: withComparison(report, other, comparison), other, comparison }
}

/** Tree sizes of the checkpoints in a pack; none when it has none that can be read. */
const checkpointSizes = async (path: string): Promise<ReadonlyArray<number>> => {
  await using source = await fileSource(path)
  // Awaited here: the file is closed as soon as this function returns.
  return await peekTreeSizes(nodeCrypto, packContent(source, await detectCompression(source)))
}
