import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { filesByProcess, importsOf, longFiles, quickFiles, startsSomething } from "./test-files.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "flyball-test-files-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

describe("the files of a run", () => {
  it("are found by imports in every form", () => {
    assert.deepEqual(
      importsOf(
        'import a from "./a.ts"\nimport {\n  b\n} from "b"\nimport "./c.ts"\nexport * from "./d.ts"\n' +
          'await import("./e.ts")\n'
      ),
      ["./a.ts", "b", "./c.ts", "./d.ts", "./e.ts"]
    )
  })

  it("are not quick when a helper starts a process or Postgres", () => {
    file("process.ts", 'import { spawn } from "node:child_process"\n')
    file("circle.ts", 'import "./circle.ts"\n')
    assert.isTrue(startsSomething(file("a.test.ts", 'import { run } from "./process.ts"\n')))
    assert.isTrue(startsSomething(file("b.test.ts", 'import { givenDatabase } from "@flyball/testkit/postgres"\n')))
    assert.isFalse(startsSomething(file("c.test.ts", 'import "./circle.ts"\n')))
  })

  it("are long for a property with two rounds, and quick when nothing is started", () => {
    const long = longFiles(root)
    assert.include(long, "property-tests/src/simulation/simulation.test.ts")
    assert.include(long, "property-tests/src/faults/walk.test.ts")
    assert.notInclude(long, "property-tests/src/servers/webhooks.test.ts")
    const quick = quickFiles(root)
    assert.isAbove(quick.length, 100)
    assert.notInclude(quick, "apps/server/src/cli/postgres.test.ts")
  })

  it("share processes, but for those that replace modules", () => {
    const { alone, quiet, starting } = filesByProcess(root)
    assert.deepEqual(alone, ["packages/client/src/capture/full-disk.test.ts"])
    assert.include(starting, "apps/server/src/cli/halt.test.ts")
    assert.include(quiet, "property-tests/src/replay/lies.test.ts")
  })
})
