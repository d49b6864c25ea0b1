/**
 * `npm run release`: makes in `dist/release` what a release publishes: an archive of the server, an archive of the
 * verifier, the verifier as one file, as a page and as an executable, the npm packages, and `SHA256SUMS` over all of
 * them.
 */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeArchives, writeChecksums } from "./archives.ts"
import { makeExecutable } from "./executable.ts"
import { packPackages } from "./pack.ts"
import { stagePackages } from "./stage.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const out = join(root, "dist", "release")

try {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  await makeArchives(root, out)
  await makeExecutable(root, out)
  const staged = join(root, "dist", "packages")
  await stagePackages(root, staged)
  packPackages(staged, join(out, "npm"))
  for (const { bytes, name, sha256 } of writeChecksums(out))
    console.log(`${sha256}  ${name} (${(bytes / 1024 / 1024).toFixed(1)} MiB)`)
} catch (cause) {
  console.error(`release: ${cause instanceof Error ? cause.message : String(cause)}`)
  process.exitCode = 1
}
