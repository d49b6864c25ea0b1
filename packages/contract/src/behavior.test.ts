import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { behavior } from "./http/behavior.ts"

describe("the windows of a behaviour change", () => {
  it.each([
    ["lookback", "9", false],
    ["lookback", "10", true],
    ["lookback", "2000", true],
    ["lookback", "2001", false],
    ["lookback", "NaN", false],
    ["lookback", "", false],
    ["window", "4", false],
    ["window", "5", true],
    ["window", "1000", true],
    ["window", "1001", false]
  ])("%s=%s", (name, text, isTaken) =>
    assert.strictEqual(Result.isSuccess(behavior.change.query!.decode({ [name]: text })), isTaken)
  )
})
