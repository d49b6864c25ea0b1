import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeFolder } from "./make-folder.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-folder-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe("making a folder", () => {
  it("makes those above it too, closed to others, and may be done again", () => {
    makeFolder(join(folder, "a", "b"))
    makeFolder(join(folder, "a", "b"))
    assert.deepEqual([statSync(join(folder, "a")).mode & 0o077, statSync(join(folder, "a", "b")).mode & 0o077], [0, 0])
  })
  it("ends with the system's code where a file is in the way", () => {
    writeFileSync(join(folder, "file"), "")
    assert.throws(() => makeFolder(join(folder, "file", "b")), /ENOTDIR/)
  })
  it("ends at all on a file system that answers ENOENT for a folder that is there", () => {
    // Node's own recursive mkdir asks for ever here.
    const never =
      process.platform === "linux" && existsSync("/proc/self") ? "/proc/flyball/data" : join(folder, "file", "c", "d")
    assert.throws(() => makeFolder(never), /ENOENT|EACCES|EPERM|ENOTDIR/)
  })
})
