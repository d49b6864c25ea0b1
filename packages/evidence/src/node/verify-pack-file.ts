/** Verifies pack files with OpenSSL, compressed or not. */
import type { Comparison } from "../verify/compare.ts"
import { compareHistories, withComparison } from "../verify/compare.ts"
import { peekTreeSize } from "../verify/peek.ts"
import type { Report } from "../verify/report.ts"
import type { VerifyOptions } from "../verify/verify-pack.ts"
import { verifyPack } from "../verify/verify-pack.ts"
import { nodeCrypto } from "./crypto.ts"
import { detectCompression, packContent } from "./decompress.ts"
import { fileSource, PackFileUnusable } from "./pack-source.ts"

/** As for `verifyPack`, without what the file itself gives. */
export type VerifyFileOptions = Omit<VerifyOptions, "reopen">

/**
 * Verifies a pack file; `.evp`, `.evp.gz` and `.evp.zst` alike, told apart by their first bytes.
 *
 * - Fails: rejects with `UnusableTrust`, `PackFileUnusable`, or Node's error when the file cannot be read.
 */
export const verifyPackFile = async (path: string, options: VerifyFileOptions = {}): Promise<Report> => {
  await using source = await fileSource(path)
  const compression = await detectCompression(source)
  const content = () => packContent(source, compression)
  const report = await verifyPack(nodeCrypto, content(), { file: path, ...options, reopen: content })
  if (!(await source.unchanged())) throw new PackFileUnusable("The file changed while it was read. Copy it to a place where nobody writes to it, and verify the copy.")
  return report
}

/** Two packs side by side. */
export interface ComparedPacks {
  readonly report: Report
  readonly other: Report
  readonly comparison: Comparison
}

/**
 * Verifies two pack files and compares the histories that they show. `report` is on the first one and holds what the comparison adds.
 *
 * - Fails: as {@link verifyPackFile}.
 */
export const comparePackFiles = async (path: string, otherPath: string, options: VerifyFileOptions = {}): Promise<ComparedPacks> => {
  const { nowMs: _now, maxAgeMs: _age, onProgress: _progress, onRecord: _record, requireCompleteness: _require, trustedCheckpoint: _trusted, ...keys } = options
  // The sizes are needed before the roots can be: the checkpoint stands in a pack's third line, so this look is short.
  const size = await checkpointSize(path)
  const other = await verifyPackFile(otherPath, { ...keys, file: otherPath, rootsAt: size === null ? [] : [size] })
  const report = await verifyPackFile(path, { ...options, rootsAt: [...options.rootsAt ?? [], ...other.checkpoint === null ? [] : [other.checkpoint.size]] })
  const comparison = compareHistories(report, other)
  return { report: withComparison(report, other, comparison), other, comparison }
}

/** Tree size of the checkpoint in a pack; null when it has none that can be read. */
const checkpointSize = async (path: string): Promise<number | null> => {
  await using source = await fileSource(path)
  return peekTreeSize(nodeCrypto, packContent(source, await detectCompression(source)))
}
