/** Verifies pack files with OpenSSL, compressed or not. */
import type { Comparison } from "../verify/compare.ts"
import { compareHistories, withComparison } from "../verify/compare.ts"
import { peekTreeSizes } from "../verify/peek.ts"
import type { Report } from "../verify/report.ts"
import type { VerifyOptions } from "../verify/verify-pack.ts"
import { verifyPack } from "../verify/verify-pack.ts"
import { nodeCrypto } from "./crypto.ts"
import { PackFileUnusable } from "../pack/byte-source.ts"
import { detectCompression } from "../pack/compression.ts"
import { packContent } from "./decompress.ts"
import { fileSource } from "./pack-source.ts"

/** As for `verifyPack`, without what the file itself gives. */
export interface VerifyFileOptions extends Omit<VerifyOptions, "reopen"> {
  /** Ends the reading: the promise rejects with its reason. */
  readonly signal?: AbortSignal
}

/**
 * Verifies a pack file; `.evp`, `.evp.gz` and `.evp.zst` alike, recognized by their first bytes.
 *
 * - Fails: rejects with `UnusableTrust`, `PackFileUnusable`, the signal's reason, or Node's error when the file cannot
 *   be read.
 * - Spec: format 1 sections 5 and 6.
 */
export const verifyPackFile = async (path: string, options: VerifyFileOptions = {}): Promise<Report> => {
  await using source = await fileSource(path)
  const compression = await detectCompression(source)
  const content = () => abortable(packContent(source, compression), options.signal)
  const report = await verifyPack(nodeCrypto, content(), { file: path, ...options, reopen: content })
  if (await source.unchanged()) return report
  const advice = "Copy it to a place where no program writes it, and verify the copy."
  throw new PackFileUnusable(`The file changed while it was read. ${advice}`)
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
 * - Spec: format 1 section 6.1, "Two packs".
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
  // The other pack needs the sizes of this one. They stand in its third and fourth line.
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
