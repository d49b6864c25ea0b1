import { assert, describe, it } from "vitest"
import { until } from "./governed-agent.ts"

describe("a wait for a fact", () => {
  it("resolves once the fact holds", async () => {
    let reads = 0
    await until(() => ++reads === 3)
    assert.strictEqual(reads, 3)
  })

  it("throws, and names the fact, where it never holds", async () => {
    const seen: ReadonlyArray<string> = []
    const failed = await until(() => seen.length === 1, 1).catch((cause: unknown) => cause)
    assert.match(String(failed), /^Error: Not so after 1 ms: \(\) => seen\.length === 1$/)
  })
})
