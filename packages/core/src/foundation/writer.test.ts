import { assert, describe, it } from "vitest"
import { isWriterId, systemHost } from "./writer.ts"

describe("writers", () => {
  it("are keys, pseudonyms and parts of the system", () => {
    for (const id of [systemHost.id, "system:import", `key_${"0".repeat(26)}`, "usr_01jd0g8q3zkm4n5p6r7s8t9v0w"])
      assert.isTrue(isWriterId(id), id)
  })

  it("are never names, addresses or ids of other things", () => {
    for (const id of [
      "",
      "ada@example.org",
      "system:",
      "system:Host",
      `system:${"a".repeat(65)}`,
      `agt_${"0".repeat(26)}`,
      `key_${"u".repeat(26)}`,
      `key_${"0".repeat(25)}`,
      "system:host\n"
    ]) {
      assert.isFalse(isWriterId(id), JSON.stringify(id))
    }
  })
})
