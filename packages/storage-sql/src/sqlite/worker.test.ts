import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

/** Every module that a file loads when it runs; imports of types are gone by then. */
const importsOf = (file: URL): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(/^(?:import|export)\s+(?!type\b)(?:(?:\{[^}]*\}|\*|\w+)\s+from\s+)?"([^"]+)"/gm)].map(([, specifier]) => specifier!)

/** What of other packages it may load: files that import as little as it does. */
const leaves: { readonly [specifier: string]: URL } = {
  "@flyball/core/outbox": new URL("@flyball/core", import.meta.url),
  "@flyball/evidence/id": new URL("@flyball/evidence", import.meta.url)
}

describe("the storage worker", () => {
  it("loads nothing but Node and a few files, so that it starts fast", () => {
    const seen = new Map<string, URL>()
    const foreign = new Set<string>()
    const visit = (file: URL): void => {
      if (seen.has(file.href)) return
      seen.set(file.href, file)
      for (const specifier of importsOf(file)) {
        if (specifier.startsWith(".")) visit(new URL(specifier, file))
        else if (leaves[specifier] !== undefined) visit(leaves[specifier])
        else if (!specifier.startsWith("node:")) foreign.add(specifier)
      }
    }
    visit(new URL("./worker.ts", import.meta.url))
    assert.deepEqual([...foreign], [])
    assert.isAtLeast(seen.size, 10)
    assert.isAtMost(seen.size, 36)
  })
})
