import { spawnSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const commands = [
  { name: "flyball", file: "apps/server/bin/flyball", without: 1 },
  // 1 of the verifier only ever means tampering.
  { name: "flyball-verify", file: "apps/verify/bin/flyball-verify", without: 4 }
] as const

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-bin-"))
  for (const { file } of commands) {
    mkdirSync(join(folder, file, ".."), { recursive: true })
    copyFileSync(join(root, file), join(folder, file))
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const run = (file: string, path: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(file, args, { env: { PATH: path }, encoding: "utf8" })
  return { status, err: stderr, out: stdout }
}

/** A folder for PATH with the two programs that the scripts need, and perhaps a `node` of some version. */
const pathWith = (name: string, node: string | null): string => {
  const path = join(folder, name)
  mkdirSync(path)
  for (const tool of ["dirname", "readlink"])
    symlinkSync(
      spawnSync("/bin/sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).stdout.trim(),
      join(path, tool)
    )
  if (node !== null) {
    writeFileSync(join(path, "node"), node)
    chmodSync(join(path, "node"), 0o755)
  }
  return path
}

/** Says its version, and lets the real Node judge the script's question about it. */
const stubNode = (version: string): string => `#!/bin/sh
if [ "$1" = --version ]; then echo v${version}; exit 0; fi
if [ "$1" = -e ]; then
  exec "${process.execPath}" -e "Object.defineProperty(process.versions, 'node', { value: '${version}' }); $2"
fi
echo "started by ${version}: $*"
`

describe.each(commands)("the command $name", ({ file, name, without }) => {
  it("works through the link that npm makes, from anywhere, with any or no node on the PATH", () => {
    const link = join(root, "node_modules", ".bin", name)
    const bare = pathWith(`bare-${name}`, null)
    for (const path of [process.env["PATH"] ?? "", bare]) {
      const answer = run(link, path, "--version")
      assert.deepEqual([answer.status, answer.err], [0, ""])
      assert.match(answer.out, /0\.1\.0\n$/)
    }
    assert.strictEqual(run(join(root, file), bare, "--version").status, 0)
  })

  it("without the pinned Node takes a new enough one of the system", () => {
    for (const version of ["24.0.0", "22.19.0", "25.1.0"]) {
      const answer = run(
        join(folder, file),
        pathWith(`${name}-${version}`, stubNode(version)),
        "--some",
        "flag with space"
      )
      assert.deepEqual([answer.status, answer.err], [0, ""], version)
      assert.match(
        answer.out,
        new RegExp(`^started by ${version.replaceAll(".", "\\.")}: \\S+/bin/start\\.cjs --some flag with space\\n$`)
      )
    }
  })

  it("without the pinned Node says in one sentence that the system's is too old, or missing", () => {
    for (const version of ["22.18.0", "20.20.2", "23.11.0", "8.0.0"]) {
      assert.deepEqual(run(join(folder, file), pathWith(`${name}-${version}`, stubNode(version)), "--version"), {
        status: without,
        out: "",
        err:
          `${name}: Node.js 24 (or 22.19 and newer of 22) is needed, and this is v${version}. Run npm ci in ` +
          `the project (it brings Node 24), or install Node 24.\n`
      })
    }
    assert.deepEqual(run(join(folder, file), pathWith(`${name}-none`, null), "--version"), {
      status: without,
      out: "",
      err: `${name}: Node.js 24 is needed and none was found. Run npm ci in the project, or install Node 24.\n`
    })
  })

  it("is executable, and its version check runs on any Node", () => {
    assert.strictEqual(statSync(join(root, file)).mode & 0o111, 0o111)
    assert.notMatch(readFileSync(join(root, file), "utf8"), /=>|\bconst\b|\blet\b/)
  })
})
