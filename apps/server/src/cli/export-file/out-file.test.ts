import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { UsageError } from "../arguments.ts"
import { checkIsNew, checkOutFile, writeOutFile } from "./out-file.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-out-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

const never = new AbortController().signal
const content = async function* (...texts: ReadonlyArray<string>): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}
const failing = async function* (): AsyncGenerator<Uint8Array> {
  yield Buffer.from("half")
  throw new Error("the store went away")
}

describe("an output file", () => {
  it("gets its name once it is complete, only its owner can read it, and no other file is left", async () => {
    await writeOutFile(join(folder, "a.evp"), content("one", "two"), never)
    assert.deepEqual(
      [readFileSync(join(folder, "a.evp"), "utf8"), readdirSync(folder), statSync(join(folder, "a.evp")).mode & 0o777],
      ["onetwo", ["a.evp"], 0o600]
    )
  })
  it("replaces an existing file only on request, and only when the new one is complete", async () => {
    writeFileSync(join(folder, "a.evp"), "before")
    const taken = await writeOutFile(join(folder, "a.evp"), content("after"), never).then(
      () => null,
      (error: unknown) => error
    )
    assert.match(String(taken), /a\.evp was created by another process while the command ran/)
    const cause = await writeOutFile(join(folder, "a.evp"), failing(), never, true).then(
      () => null,
      (error: unknown) => error
    )
    assert.match(String(cause), /the store went away/)
    assert.deepEqual([readFileSync(join(folder, "a.evp"), "utf8"), readdirSync(folder)], ["before", ["a.evp"]])
    await writeOutFile(join(folder, "a.evp"), content("after"), never, true)
    assert.deepEqual([readFileSync(join(folder, "a.evp"), "utf8"), readdirSync(folder)], ["after", ["a.evp"]])
  })
  it("replaces a link, and never its target", async () => {
    writeFileSync(join(folder, "kept"), "before")
    symlinkSync("kept", join(folder, "soft"))
    linkSync(join(folder, "kept"), join(folder, "hard"))
    for (const name of ["soft", "hard"]) {
      await writeOutFile(join(folder, name), content("after"), never, true)
      assert.deepEqual(
        [readFileSync(join(folder, name), "utf8"), readFileSync(join(folder, "kept"), "utf8")],
        ["after", "before"]
      )
    }
  })
  it("is new where nothing has its name, not even a link to nothing", () => {
    symlinkSync("nothing", join(folder, "dangling"))
    writeFileSync(join(folder, "file"), "")
    for (const name of ["dangling", "file"])
      assert.throws(() => checkIsNew("--out", join(folder, name)), UsageError, /exists already; --force replaces it/)
    checkIsNew("--out", join(folder, "new"))
    checkIsNew("--out", join(folder, "file", "new"))
  })
  it("is missing when the command was stopped", async () => {
    const stop = new AbortController()
    const stopping = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half")
      stop.abort(new Error("stopped by SIGTERM"))
      yield Buffer.from("more")
    }
    const cause = await writeOutFile(join(folder, "a.evp"), stopping(), stop.signal).then(
      () => null,
      (error: unknown) => error
    )
    assert.deepEqual([(cause as Error).message, readdirSync(folder)], ["stopped by SIGTERM", []])
  })
  it("is refused in a folder that does not exist, with the system's error code", async () => {
    const cause = await writeOutFile(join(folder, "gone", "a.evp"), content("one"), never).then(
      () => null,
      (error: unknown) => error
    )
    assert.match((cause as Error).message, /gone\/a\.evp cannot be written: .*\(ENOENT\)/)
  })
  it("is checked before anything else is done", () => {
    mkdirSync(join(folder, "sub"))
    writeFileSync(join(folder, "file"), "")
    for (const [file, sentence] of [
      ["sub", /is a folder/],
      ["none/a.evp", /does not exist; create it first/],
      ["file/a.evp", /does not exist; create it first/]
    ] as const) {
      assert.throws(() => checkOutFile("--out", join(folder, file)), UsageError, sentence)
    }
    if (process.platform !== "win32")
      assert.throws(() => checkOutFile("--out", "/dev/null"), UsageError, /not an ordinary file/)
    checkOutFile("--out", join(folder, "new.evp"))
    checkOutFile("--out", join(folder, "file"))
  })
})
