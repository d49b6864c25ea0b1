import { assert, describe, it } from "vitest"
import { OlderRules, UPGRADE_MS } from "./older-rules.ts"

const record = (kind: string, rules?: number) => ({
  seq: 0,
  kind,
  body: rules === undefined ? {} : { rules },
  parts: new Map()
})

describe("a record that names older rules", () => {
  it("is found a day after newer rules were named, and not within it: processes are replaced one by one", () => {
    const rules = new OlderRules()
    assert.isFalse(rules.take(record("evaluation.made", 6), 0))
    assert.isFalse(rules.take(record("evaluation.made", 7), 1_000))
    assert.isFalse(rules.take(record("evaluation.made", 6), 1_000 + UPGRADE_MS))
    assert.isTrue(rules.take(record("evaluation.made", 6), 1_001 + UPGRADE_MS))
    assert.isFalse(rules.take(record("evaluation.made", 7), 2 * UPGRADE_MS))
  })

  it("is no older one of a kind that did not name its rules then", () => {
    const rules = new OlderRules()
    rules.take(record("evaluation.made", 6), 0)
    assert.isFalse(rules.take(record("kill.activated"), 2 * UPGRADE_MS))
    assert.isTrue(rules.take(record("standing_approval.proposed"), 2 * UPGRADE_MS))
    rules.take(record("kill.activated", 7), 3 * UPGRADE_MS)
    assert.isTrue(rules.take(record("kill.activated"), 5 * UPGRADE_MS))
    assert.isFalse(rules.take(record("kill.released"), 5 * UPGRADE_MS))
  })
})
