import { assert, describe, it } from "vitest"
import { checkFloors, closureOf, folderCycles, importsOf } from "./floors.ts"

const messagesOf = (path: string, text: string): ReadonlyArray<string> =>
  checkFloors([{ path, text }]).map((violation) => `${violation.line}: ${violation.message}`)

describe("import floors", () => {
  it("lets imports go down", () => {
    assert.deepEqual(
      messagesOf(
        "packages/core/src/chain/a.ts",
        `import { x } from "@flyball/evidence"\nimport type { Effect } from "effect"\nimport { y } from "./b.ts"\n`
      ),
      []
    )
  })
  it("finds an import that goes up, and reports its line", () => {
    assert.deepEqual(messagesOf("packages/evidence/src/a.ts", `\nimport {\n  Effect\n} from "effect"\n`).length, 1)
    assert.match(
      messagesOf("packages/core/src/chain/a.ts", `const a = 1\nimport { DatabaseSync } from "node:sqlite"\n`)[0]!,
      /^2: imports node:sqlite/
    )
    assert.match(
      messagesOf("packages/core/src/chain/a.ts", `const x = await import("@flyball/storage-sql")`)[0]!,
      /@flyball\/storage-sql/
    )
  })
  it("finds a relative import into another package", () => {
    assert.match(
      messagesOf("packages/core/src/chain/a.ts", `import { x } from "../../../evidence/src/bytes.ts"`)[0]!,
      /by its name/
    )
  })
  it("keeps envelope and rules free of Effect and of core", () => {
    assert.deepEqual(
      messagesOf("packages/rules/src/a.ts", `import { x } from "./b.ts"\nimport { y } from "@flyball/envelope"`),
      []
    )
    assert.equal(messagesOf("packages/rules/src/a.ts", `import { x } from "@flyball/core"`).length, 1)
    assert.equal(messagesOf("packages/envelope/src/a.ts", `import { Effect } from "effect"`).length, 1)
    assert.equal(messagesOf("packages/envelope/src/a.ts", `import { x } from "@flyball/rules"`).length, 1)
  })
  it("keeps the folders of core in their order", () => {
    assert.deepEqual(messagesOf("packages/core/src/chain/a.ts", `import { x } from "../storage/b.ts"`), [])
    assert.match(
      messagesOf("packages/core/src/chain/a.ts", `import { x } from "../registry/b.ts"`)[0]!,
      /registry is above chain/
    )
  })
  it("finds folders that import values from each other in a circle", () => {
    const files = [
      { path: "packages/core/src/registry/agents/a.ts", text: `import { b } from "../identity/b.ts"` },
      { path: "packages/core/src/registry/identity/b.ts", text: `import { c } from "../agents/c.ts"` },
      { path: "packages/core/src/registry/models/d.ts", text: `import { c } from "../agents/c.ts"` }
    ]
    assert.deepEqual(folderCycles(files), [
      ["packages/core/src/registry/agents", "packages/core/src/registry/identity"]
    ])
    const typed = {
      path: "packages/core/src/registry/identity/b.ts",
      text: `import type { C } from "../agents/c.ts"\nimport { type D } from "../agents/d.ts"`
    }
    assert.deepEqual(folderCycles([files[0]!, typed, files[2]!]), [])
  })
  it("finds circles in each package by itself", () => {
    const inApp = (app: string) => [
      { path: `apps/${app}/src/cli/a.ts`, text: `import { b } from "../host/deeper/b.ts"` },
      { path: `apps/${app}/src/host/deeper/b.ts`, text: `import { c } from "../../cli/c.ts"` }
    ]
    const [up, down] = [inApp("server"), inApp("verify")]
    assert.deepEqual(folderCycles([...up, ...down]), [
      ["apps/server/src/cli", "apps/server/src/host"],
      ["apps/verify/src/cli", "apps/verify/src/host"]
    ])
    assert.deepEqual(folderCycles([up[0]!, down[1]!]), [])
  })
  it("finds files of core beside its folders that are no entries", () => {
    assert.match(messagesOf("packages/core/src/shared.ts", "")[0]!, /^1: is neither an entry of core nor in one of/)
    assert.match(
      messagesOf("packages/core/src/elsewhere/a.ts", "")[0]!,
      /^1: is neither an entry of core nor in one of/
    )
    assert.deepEqual(messagesOf("packages/core/src/index.ts", ""), [])
    assert.deepEqual(messagesOf("packages/core/src/readme.test.ts", ""), [])
  })
  it("keeps the browser entry of evidence away from its node entry", () => {
    assert.equal(messagesOf("packages/evidence/src/a.ts", `import { x } from "./node/crypto.ts"`).length, 1)
    assert.deepEqual(
      messagesOf(
        "packages/evidence/src/node/a.ts",
        `import { x } from "../bytes.ts"\nimport { hash } from "node:crypto"`
      ),
      []
    )
  })
  it("finds clocks, randomness and the environment below the apps, outside comments", () => {
    assert.equal(messagesOf("packages/core/src/chain/a.ts", `const t = Date.now()\nconst r = Math.random()`).length, 2)
    assert.deepEqual(messagesOf("packages/core/src/chain/a.ts", `// never Date.now()\n/* nor\n process.env */`), [])
    assert.deepEqual(messagesOf("apps/server/src/a.ts", `const t = Date.now()`), [])
  })
  it("finds skipped tests and files on no floor", () => {
    assert.equal(messagesOf("packages/core/src/chain/a.test.ts", `it.skip("x", () => {})`).length, 1)
    assert.equal(messagesOf("elsewhere/a.ts", ``).length, 1)
  })
  it("reads multi-line and bare imports, and re-exports", () => {
    assert.deepEqual(
      importsOf(`import "a"\nimport {\n b\n} from "b"\nexport * from "c"\nexport const d = 1`).map(
        (found) => found.name
      ),
      ["a", "b", "c"]
    )
  })
  it("follows a closure through workspace packages", () => {
    const files = new Map([
      ["apps/verify/src/main.ts", `import { v } from "@flyball/evidence"`],
      ["packages/evidence/src/index.ts", `export * from "./a.ts"`],
      ["packages/evidence/src/a.ts", `import { Effect } from "effect"`]
    ])
    const closure = closureOf(
      files,
      "apps/verify/src/main.ts",
      new Map([["@flyball/evidence", "packages/evidence/src/index.ts"]])
    )
    assert.deepEqual(closure.modules, ["effect"])
    assert.equal(closure.paths.length, 3)
  })
})
