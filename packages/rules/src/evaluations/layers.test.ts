import { assert, describe, it } from "vitest"
import { readEnvelope } from "@flyball/envelope"
import { bind, type Layer, latchesOf } from "./layers.ts"

const layer = (envelopeId: string, signals: { readonly [name: string]: object }): Layer => {
  const { envelope } = readEnvelope({
    semantics: "envelope/1",
    effects: { "*": "read" },
    signals,
    rules: [{ id: "all", outcome: "allow", when: [] }],
    default: { outcome: "deny" }
  })
  return { envelopeId, version: 1, digest: "", envelope, waivers: [] }
}
const web = { type: "bool", source: "caller" }
const tainted = { type: "bool", source: "latch", set_by: "web" }

describe("latches of layers", () => {
  it("treat a missing signal as the latch's own layer does, even when another layer requires the signal", () => {
    const set = (...layers: ReadonlyArray<Layer>) => latchesOf([bind(layers)], { runId: "run_1", signals: {} }, {})
    const unit = layer("env_unit", { web: { ...web, on_missing: true }, tainted })
    assert.deepEqual(set(unit), ["tainted"])
    assert.deepEqual(set(unit, layer("env_own", { web })), ["tainted"])
    assert.deepEqual(set(layer("env_unit", { web, tainted }), layer("env_own", { web })), [])
    assert.isNull(bind([unit, layer("env_own", { web: { ...web, on_missing: false } })]).ready)
  })
})
