import { describe, expect, it } from "vitest"
import { killInstanceState } from "./instance-state.ts"

const silent = { unconfirmedAtMs: null }
const recorded = { unconfirmedAtMs: 1_000 }

describe("killInstanceState", () => {
  it("an instance that has not answered is requested, and unconfirmed once that is recorded", () => {
    expect(killInstanceState(silent, null)).toBe("requested")
    expect(killInstanceState(recorded, null)).toBe("unconfirmed")
  })

  it("an answer counts, also after the instance was recorded as unconfirmed", () => {
    for (const activation of [silent, recorded]) {
      expect(killInstanceState(activation, { stoppedAtMs: null })).toBe("acknowledged")
      expect(killInstanceState(activation, { stoppedAtMs: 2_000 })).toBe("stopped")
    }
  })
})
