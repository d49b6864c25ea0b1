import { assert, describe, it } from "vitest"
import { REDACTED, redactMembers, redactSafely } from "./redact.ts"

describe("redaction", () => {
  it("removes members at any depth, in any case", () =>
    assert.deepStrictEqual(redactMembers(["Token"])({ token: "a", in: [{ TOKEN: { deep: 1 }, kept: null }] }), {
      token: REDACTED,
      in: [{ TOKEN: REDACTED, kept: null }]
    }))

  it("sends nothing of a value when it throws", () => {
    const failing = () => {
      throw new Error("broken")
    }
    assert.strictEqual(redactSafely(failing, { secret: 1 }), REDACTED)
    assert.isUndefined(redactSafely(failing, undefined))
  })
})
