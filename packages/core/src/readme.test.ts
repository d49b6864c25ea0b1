import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { openGovernor } from "./governor/governor.ts"
import { mountOn } from "./governor/mount.ts"
import { memoryStorage } from "./storage/memory/memory.ts"

const here = import.meta.dirname
/** Reads each example and what it says that it prints. */
const examples = async (): Promise<ReadonlyArray<readonly [code: string, prints: string]>> => {
  const readme = await readFile(join(here, "../README.md"), "utf8")
  return [...readme.matchAll(/```ts\n([\s\S]*?)```\n\nIt prints:\n\n```text\n([\s\S]*?)```/g)].map(
    ([, code, prints]) => [code!, prints!]
  )
}

describe("the glossary", () => {
  const root = join(here, "../../..")
  const rows = async () =>
    [...(await readFile(join(here, "../GLOSSARY.md"), "utf8")).matchAll(/^\| \*\*(.+?)\*\* \|(.+?)\|(.+?)\|/gm)].map(
      ([, word, means, inCode]) => ({ word: word!, means: means!.trim(), inCode: inCode! })
    )

  it("defines each word once, in alphabetical order", async () => {
    const words = (await rows()).map(({ word }) => word.toLowerCase())
    assert.isAbove(words.length, 120)
    assert.deepStrictEqual(words, [...new Set(words)].sort())
  })

  it("gives each word one meaning in under 25 words", async () => {
    for (const { means, word } of await rows()) {
      assert.notEqual(means, "", word)
      assert.isBelow(means.split(" ").length, 25, word)
    }
  })

  it("names in code what is there", async () => {
    const paths = globSync(["packages/*/src/**/*.{ts,sql}", "apps/*/src/**/*.ts"], { cwd: root })
    const code = (await Promise.all(paths.map((path) => readFile(join(root, path), "utf8")))).join("\n")
    const missing = (await rows())
      .flatMap(({ inCode }) => [...inCode.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))
      .filter((name) => !code.includes(name) && !paths.some((path) => path.includes(name)))
    assert.deepStrictEqual(missing, [])
  })
})

/** Services of the layer that hosts do not call. */
const neededByOthers = ["CommitFeed", "Storage", "Tenant"]

describe("the README", () => {
  it("names every service of the layer, but those that the others need", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const services = [...mountOn(governor).context.mapUnsafe.keys()]
      .filter((key) => key.startsWith("flyball/core/"))
      .map((key) => key.slice("flyball/core/".length))
    const [, list] = /gives all services \(([^)]+)\)/.exec(await readFile(join(here, "../README.md"), "utf8"))!
    assert.deepStrictEqual(
      [...list!.matchAll(/`(\w+)`/g)].map(([, name]) => name),
      services.filter((name) => !neededByOthers.includes(name)).sort()
    )
  })

  it("has an example of capture, and one of envelopes", async () => assert.lengthOf(await examples(), 2))

  it.each([0, 1])("shows example %i, which runs in a process of its own and prints what it says", async (place) => {
    const [code, prints] = (await examples())[place]!
    // Inside the package, so that its imports resolve as a host's would.
    const folder = await mkdtemp(join(here, "../.readme-example-"))
    try {
      const file = join(folder, "example.ts")
      await writeFile(file, code)
      const { stderr, stdout } = await promisify(execFile)(process.execPath, [file])
      assert.strictEqual(stderr, "")
      assert.strictEqual(stdout, prints)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
