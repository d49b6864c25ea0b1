import { assert, describe, it } from "vitest"
import { foldLatches, latchesSetBy } from "./latches.ts"
import { readEnvelope } from "../language/read-envelope.ts"

const { envelope } = readEnvelope({
  semantics: "envelope/1",
  effects: { "*": "read" },
  rules: [],
  default: { outcome: "deny" },
  signals: {
    web: { type: "bool", source: "caller" },
    leak: { type: "bool", source: "server", on_missing: true },
    tainted: { type: "bool", source: "latch", set_by: "web" },
    leaked: { type: "bool", source: "latch", set_by: "leak" }
  }
})
const { signals } = envelope!

describe("a latch", () => {
  it("is set by its signal alone, from the one who says that signal, its value when missing included", () => {
    assert.deepEqual(latchesSetBy(signals, { web: true }, { leak: false }), ["tainted"])
    assert.deepEqual(latchesSetBy(signals, { web: "true", leak: true }, { web: true, leak: false }), [])
    assert.deepEqual(latchesSetBy(signals, null, {}), ["leaked"])
    // Null is no value of a bool; a missing one is one that does not exist.
    assert.deepEqual(latchesSetBy(signals, {}, { leak: null }), [])
  })

  it("stays set", () => {
    let set: ReadonlySet<string> = new Set()
    const after = (...sets: ReadonlyArray<string>): ReadonlyArray<string> => [...(set = foldLatches(set, sets))].sort()
    assert.deepEqual(after("tainted"), ["tainted"])
    assert.deepEqual(after(), ["tainted"])
    assert.deepEqual(after("leaked"), ["leaked", "tainted"])
    assert.deepEqual(after("tainted"), ["leaked", "tainted"])
  })
})
