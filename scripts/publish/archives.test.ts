/** The archives of a release, unpacked where nothing of this project is. */
import { spawnSync } from "node:child_process"
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { deadLinks } from "./pages.ts"
import { makeArchives, type ReleaseFile, writeChecksums } from "./archives.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "flyball-archives-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pack = join(root, "fixtures/vectors/flyball-format/valid-full-12.evp.gz")

const run = (program: string, ...args: ReadonlyArray<string>) =>
  spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], FLYBALL_DATA_DIR: join(folder, "data") }
  })

let files: ReadonlyArray<ReleaseFile>
beforeAll(async () => {
  await makeArchives(root, folder)
  files = writeChecksums(folder)
})

describe("the archives of a release", () => {
  it("match their checksums, by the system's own tool", () => {
    const { status, stdout } = run("sha256sum", "--check", "SHA256SUMS")
    assert.strictEqual(status, 0, stdout)
    assert.deepEqual(
      files.map(({ name }) => name.replace(/\d+\.\d+\.\d+/, "V")),
      ["flyball-V.tar.gz", "flyball-verify-V.html", "flyball-verify-V.mjs", "flyball-verify-V.tar.gz"]
    )
  })

  it("hold the server, which runs where it is unpacked", () => {
    const { name } = files[0]!
    assert.strictEqual(run("tar", "-xzf", name).status, 0)
    const place = join(folder, name.replace(".tar.gz", ""))
    const version = run(process.execPath, join(place, "bin", "start.cjs"), "--version")
    assert.strictEqual(version.stdout.trim(), name.replace(/flyball-(.*)\.tar\.gz/, "$1"), version.stderr)
    assert.strictEqual(run(process.execPath, join(place, "bin", "start.cjs"), "config").status, 0)
    assert.isTrue((statSync(join(place, "bin", "flyball")).mode & 0o111) !== 0, "the launcher is executable")
    assert.includeMembers(readdirSync(place), ["LICENSE", "NOTICE", "README.md", "deploy", "dist", "docs", "verify"])
    assert.match(readFileSync(join(place, "README.md"), "utf8"), /^# Flyball, a release\n/)
    assert.strictEqual(run(process.execPath, join(place, "verify", "flyball-verify.mjs"), pack).status, 2)
  })

  it.each([/^flyball-\d/, /^flyball-verify-.*\.tar\.gz$/])("have no dead link on a page of %s", (pattern) => {
    const { name } = files.find(({ name }) => pattern.test(name))!
    assert.strictEqual(run("tar", "-xzf", name).status, 0)
    const place = join(folder, name.replace(".tar.gz", ""))
    const pages = globSync("**/*.md", { cwd: place })
    assert.include(pages, "README.md")
    assert.deepEqual(deadLinks(place), [])
  })

  it("hold the verifier as one file, which runs alone", () => {
    const single = files.find(({ name }) => name.endsWith(".mjs"))!.name
    const { status, stdout } = run(process.execPath, single, pack)
    assert.strictEqual(status, 2)
    assert.include(stdout, "Integrity       ok.")
    assert.match(
      readFileSync(join(folder, single), "utf8"),
      /^#!\/usr\/bin\/env node\n[^]*@noble\/hashes [\d.]+ \(MIT\)/
    )
  })

  it("hold the verifier as a page, beside the one file and by itself", () => {
    const page = readFileSync(join(folder, files.find(({ name }) => name.endsWith(".html"))!.name))
    const archive = files.find(({ name }) => /^flyball-verify-.*\.tar\.gz$/.test(name))!.name
    assert.strictEqual(run("tar", "-xzf", archive).status, 0)
    const place = join(folder, archive.replace(".tar.gz", ""))
    assert.isTrue(page.equals(readFileSync(join(place, "flyball-verify.html"))))
    assert.includeMembers(readdirSync(place), ["LICENSE", "README.md", "SPEC.md", "flyball-verify.mjs"])
  })

  it("have the same bytes when they are built again", async () => {
    await makeArchives(root, folder)
    assert.deepEqual(
      writeChecksums(folder).filter(({ name }) => files.some((file) => file.name === name)),
      files
    )
  })
})
