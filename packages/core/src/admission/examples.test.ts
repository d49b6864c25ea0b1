import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"

const here = import.meta.dirname
const imports = `
import {
  answeringStorage, commitAnswered, exactSchedule, type FailedAttempt, Idempotency,
  layerOf, memoryStorage, nextAttemptAtMs, Permits, Quotas, RateLimits, Storage
} from "../../index.ts"
import { portableCrypto } from "@flyball/evidence"
import { Effect, Layer } from "effect"
`

describe("the examples of limits, permits, quotas, idempotency and the delivery schedule", () => {
  it.each([
    "rate-limits",
    "permits",
    "quotas",
    "../idempotency/idempotency",
    "../../../rules/src/webhooks/retry-schedule"
  ])("run, and print what they say (%s)", async (name) => {
    const source = await readFile(join(here, `${name}.ts`), "utf8")
    const [, quoted] = /```ts\n([\s\S]*?) \* ```/.exec(source)!
    const code = quoted!.replaceAll(/^ \* ?/gm, "")
    const [, prints] = /\/\/ prints: (.*)/.exec(code)!
    assert.isAtMost(code.split("\n").length, 14)
    const folder = await mkdtemp(join(here, ".example-"))
    try {
      const file = join(folder, "example.ts")
      await writeFile(file, imports + code)
      const { stderr, stdout } = await promisify(execFile)(process.execPath, [file])
      assert.deepStrictEqual([stderr, stdout.trim().split(/\s+/).join(" ")], ["", prints])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
