import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { builtProgram, LIST_VERSION } from "./built.cjs"
import { Inputs } from "./inputs.ts"
import { installProgram, makingFolder } from "./install.ts"
import { calledToThrow, namesBeside } from "./join.ts"

let root: string
let app: string
let dist: string
let source: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flyball-built-"))
  app = join(root, "apps", "server")
  dist = join(app, "dist")
  source = join(app, "source.ts")
  mkdirSync(app, { recursive: true })
  writeFileSync(source, "one")
})
afterEach(() => rmSync(root, { recursive: true }))

/** Installs a program made from the source, by a clock that is so much ahead of the files. */
const install = (name: string, aheadMs: number): void => {
  const nowMs = statSync(source).ctimeMs + aheadMs
  const inputs = new Inputs(root, () => nowMs)
  inputs.read(source)
  const making = makingFolder(dist)
  writeFileSync(join(making, "main.js"), "")
  installProgram(dist, making, name, { v: LIST_VERSION, files: inputs.all() }, nowMs)
}
/** Writes the source so that size and time of modification are those of before. */
const edit = (text: string): void => {
  const { atime, mtime } = statSync(source)
  writeFileSync(source, text)
  utimesSync(source, atime, mtime)
}

describe.each([["old", 10_000], ["young", 0]] as const)("a program joined from %s files", (_, aheadMs) => {
  it("is started as long as they are the same", () => {
    assert.isNull(builtProgram(app))
    install("a", aheadMs)
    assert.strictEqual(builtProgram(app), join(dist, "a", "main.js"))
  })

  it("is not started once one was edited, however it looks from outside, and is again when the edit is taken back", () => {
    install("a", aheadMs)
    edit("two")
    assert.isNull(builtProgram(app))
    edit("one")
    assert.strictEqual(builtProgram(app), join(dist, "a", "main.js"))
    writeFileSync(source, "three")
    assert.isNull(builtProgram(app))
  })

  it("is not started once one is gone", () => {
    install("a", aheadMs)
    renameSync(source, `${source}.old`)
    assert.isNull(builtProgram(app))
  })
})

describe("the list of what was joined", () => {
  it("in another form, or cut off, is no list", () => {
    install("a", 0)
    for (const text of ["", "{", "null", "{}", `{"v":${LIST_VERSION}}`, `{"v":${LIST_VERSION + 1},"folder":"a","files":[]}`]) {
      writeFileSync(join(dist, "built.json"), text)
      assert.isNull(builtProgram(app), text)
    }
  })

  it("names the newest program; the one before stays for servers that still run from it", () => {
    for (const name of ["a", "b", "c"]) {
      install(name, 0)
      utimesSync(join(dist, name), name.charCodeAt(0), name.charCodeAt(0))
    }
    assert.strictEqual(builtProgram(app), join(dist, "c", "main.js"))
    assert.deepEqual(["a", "b", "c"].map((name) => statSync(join(dist, name), { throwIfNoEntry: false }) !== undefined), [false, true, true])
  })
})

describe("what is read while joining", () => {
  it("is refused when it is another file by the end", async () => {
    const inputs = new Inputs(root, () => statSync(source).ctimeMs)
    inputs.read(source)
    const failed = await inputs.settle(async () => edit("two")).then(() => null, (cause: Error) => cause.message)
    assert.strictEqual(failed, "apps/server/source.ts was changed while it was joined. Run npm run build again")
  })

  it("has the same digest wherever the tree is, and another when a file is", () => {
    const digest = (): string => {
      const inputs = new Inputs(root, () => 0)
      inputs.read(source)
      return inputs.digest()
    }
    const before = digest()
    edit("two")
    assert.notStrictEqual(digest(), before)
    edit("one")
    assert.strictEqual(digest(), before)
  })
})

it("files that a module finds by its own address", () => {
  assert.deepEqual(namesBeside(`const a = new URL("./worker.ts", import.meta.url)\nconst b = "./other.ts"\nnew URL(import.meta.url.endsWith(".ts") ? "./x.ts" : "./x.js", import.meta.url)`), ["worker.js", "x.js", "x.js"])
})

it("calls that only throw, which the bundler would leave out", () => {
  assert.deepEqual(calledToThrow("try {\n  decodeURIComponent(text)\n  void encodeURI(text)\n  return true\n} catch {}\nconst a = decodeURIComponent(text)\nreturn decodeURI(text)"), ["decodeURIComponent", "encodeURI"])
})
