/** The archives of a release. The same sources give the same bytes. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { gzipSync } from "node:zlib"
import { joinProgram } from "../build/join.ts"
import { programs } from "../build/programs.ts"
import { copyPages, unlinkMissing } from "./pages.ts"

/** A file of a release. */
export interface ReleaseFile {
  /** Relative to the release's folder, with `/`. */
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

/**
 * Joins both programs and writes `flyball-V.tar.gz`, `flyball-verify-V.tar.gz`, `flyball-verify-V.mjs` and
 * `flyball-verify-V.html` to `out`.
 *
 * - Fails: throws when a program cannot be joined, or when this host has no GNU tar.
 */
export const makeArchives = async (root: string, out: string): Promise<void> => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
  const work = mkdtempSync(join(tmpdir(), "flyball-release-"))
  try {
    const [server, verifier] = [join(work, `flyball-${version}`), join(work, `flyball-verify-${version}`)]
    await joinProgram(
      programs.find(({ app }) => app === "apps/server")!,
      join(server, "dist"),
      root
    )
    await joinProgram(
      programs.find(({ app }) => app === "apps/verify")!,
      verifier,
      root
    )
    for (const [from, to] of [
      ["apps/server/bin", "bin"],
      ["apps/server/package.json", "package.json"],
      ["deploy/README.md", "README.md"],
      ["deploy/flyball.service", "deploy/flyball.service"],
      ["docs", "docs"],
      ["examples", "examples"],
      ["LICENSE", "LICENSE"],
      ["NOTICE", "NOTICE"]
    ] as const)
      cpSync(join(root, from), join(server, to), {
        recursive: true,
        filter: (path) => basename(path) !== "node_modules"
      })
    copyPages(root, server, globSync("docs/*.md", { cwd: root }))
    for (const kind of ["mjs", "html"])
      cpSync(join(verifier, `flyball-verify.${kind}`), join(server, "verify", `flyball-verify.${kind}`))
    for (const [from, to] of [
      ["apps/verify/README.md", "README.md"],
      ["packages/evidence/SPEC.md", "SPEC.md"],
      ["NOTICE", "NOTICE"]
    ] as const)
      cpSync(join(root, from), join(verifier, to))
    unlinkMissing(verifier)
    mkdirSync(out, { recursive: true })
    archive(work, `flyball-${version}`, out)
    archive(work, `flyball-verify-${version}`, out)
    for (const kind of ["mjs", "html"])
      cpSync(join(verifier, `flyball-verify.${kind}`), join(out, `flyball-verify-${version}.${kind}`))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Owners, times and order are fixed, so that a build of the same sources has the same checksums. */
const archive = (folder: string, name: string, out: string): void => {
  const flags = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--mode=u+w,go-w,a+rX"]
  const { error, status, stderr, stdout } = spawnSync("tar", ["-C", folder, ...flags, "-cf", "-", name], {
    maxBuffer: 256 * 1024 * 1024
  })
  if (error !== undefined || status !== 0)
    throw new Error(`GNU tar could not archive ${name}: ${error?.message ?? String(stderr).trim()}`)
  writeFileSync(join(out, `${name}.tar.gz`), gzipSync(stdout, { level: 9 }))
}

/** Writes `SHA256SUMS`, as `sha256sum --check` reads it, and returns what it lists. */
export const writeChecksums = (out: string): ReadonlyArray<ReleaseFile> => {
  const files = globSync("**/*", { cwd: out })
    .filter((path) => statSync(join(out, path)).isFile() && path !== "SHA256SUMS")
    .map((path) => path.split("\\").join("/"))
    .sort()
    .map((name) => {
      const content = readFileSync(join(out, name))
      return { name, bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") }
    })
  writeFileSync(join(out, "SHA256SUMS"), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""))
  return files
}
