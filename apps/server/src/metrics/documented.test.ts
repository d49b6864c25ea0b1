import type { TracingApi } from "@flyball/http/host"
import { checkChannel } from "@flyball/core"
import { exposition, readExposition, spanFamilies } from "@flyball/http/testing"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld } from "../http/http-world.ts"

let world: Awaited<ReturnType<typeof openWorld>>
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const documented = async (): Promise<ReadonlyArray<string>> =>
  [
    ...(await readFile(join(import.meta.dirname, "../../../../docs/telemetry.md"), "utf8")).matchAll(
      /^\| `([a-z_]+)` \| ((?:`\w+`(?:, )?)*) \| (counter|gauge|histogram) \|/gm
    )
  ]
    .map(([, name, labels, type]) => `${name} ${type} ${labels!.replaceAll("`", "")}`)
    .sort()

/** Left out: what tests of the registry declare. In `npm run test:quick` test files share its module. */
const ofTests = /^flyball_test_/

const rowsOf = (text: string): ReadonlyArray<string> =>
  [...readExposition(text)]
    .filter(([name]) => !ofTests.test(name))
    .map(([name, { lines, type }]) => {
      const labels = Object.keys(lines[0]!.labels).filter((label) => label !== "le")
      return `${name} ${type} ${labels.join(", ")}`
    })

describe("docs/telemetry.md", () => {
  it("lists every metric with its labels and type, and no other", async () => {
    await world.register("courier")
    await world.send("GET", "/nothing-here")
    await world.send("GET", "/api/v1/chain/checkpoint", { token: world.admin })
    await world.send("GET", "/api/v1/me", { token: "a.b.c" })
    await world.runtime.runPromise(checkChannel)
    const { text } = await world.send("GET", "/metrics")
    const counts = () => ({ exported: 0, dropped: 0, waiting: 0 })
    const spans = exposition(spanFamilies({ counts } as Partial<TracingApi> as TracingApi))
    assert.deepStrictEqual([...rowsOf(text), ...rowsOf(spans)].sort(), await documented())
  })
})
