import { assert, describe, it } from "vitest"
import { recordedValue } from "./capture/recordable.ts"
import { keepAll, REDACTED, redactMembers, redactSafely } from "./redact.ts"

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

  it("sends nothing of a value when it answers nothing, as where a return was forgotten", () => {
    assert.strictEqual(redactSafely((() => undefined) as never, { secret: 1 }), REDACTED)
    assert.strictEqual(redactSafely((() => () => 1) as never, { secret: 1 }), REDACTED)
  })

  it("leaves null, which says that there was nothing", () => {
    for (const redact of [keepAll, redactMembers(["token"])])
      assert.isNull(recordedValue(null, { redact, digestKey: new Uint8Array(32) }))
  })
})
