import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

/** Every module that a file loads when it runs; imports of types are gone by then. */
const importsOf = (file: URL): ReadonlyArray<string> =>
  [
    ...readFileSync(file, "utf8").matchAll(
      /^(?:import|export)\s+(?!type\b)(?:(?:\{[^}]*\}|\*|\w+)\s+from\s+)?"([^"]+)"/gm
    )
  ].map(([, specifier]) => specifier!)

/** The entries of other packages that it may load. */
const entries: { readonly [specifier: string]: URL } = {
  "@flyball/core/thread": new URL("../../../../core/src/thread.ts", import.meta.url),
  "@flyball/evidence": new URL("../../../../evidence/src/index.ts", import.meta.url),
  "@flyball/evidence/node/crypto": new URL("../../../../evidence/src/node/crypto.ts", import.meta.url),
  "@flyball/evidence/id": new URL("../../../../evidence/src/id.ts", import.meta.url)
}

describe("the storage worker", () => {
  it("loads no Effect, so that it starts fast", () => {
    const seen = new Map<string, URL>()
    const foreign = new Set<string>()
    const visit = (file: URL): void => {
      if (seen.has(file.href)) return
      seen.set(file.href, file)
      for (const specifier of importsOf(file)) {
        if (specifier.startsWith(".")) visit(new URL(specifier, file))
        else if (entries[specifier] !== undefined) visit(entries[specifier])
        else if (!/^(node:|@noble\/)/.test(specifier)) foreign.add(specifier)
      }
    }
    visit(new URL("./sqlite-worker.ts", import.meta.url))
    assert.deepEqual([...foreign], [])
    assert.isAtLeast(seen.size, 10)
    // Half of them are the catalogue: each group of kinds is a module of its own.
    assert.isAtMost(seen.size, 150)
  })
})
