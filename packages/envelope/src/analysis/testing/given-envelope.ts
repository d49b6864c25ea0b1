import { readFileSync } from "node:fs"
import { assert } from "vitest"
import { type Combination, compile } from "../../compile/compile.ts"
import type { Envelope } from "../../language/envelope.ts"
import { readEnvelope } from "../../language/read-envelope.ts"

/** Signals that most tests do with. */
export const signals = {
  tool: { type: "enum", values: ["search", "refund", "pay"], source: "caller" },
  amount: { type: "int", min: 0, max: 1000, source: "caller" },
  tier: { type: "int", min: 0, max: 4, source: "server" },
  known: { type: "bool", source: "server" }
} as const

/** An envelope with those signals; `members` add to it or replace. */
export const given = (rules: ReadonlyArray<object>, members: object = {}): Envelope =>
  readAll({
    semantics: "envelope/1",
    signals,
    effects: { search: "read", refund: "money", pay: "money" },
    rules,
    default: { outcome: "deny" },
    ...members
  })

/** Layers made ready, outermost first. */
export const compiled = (...layers: ReadonlyArray<Envelope>): Combination => {
  const { combination, findings } = compile(layers)
  assert.deepEqual(findings, [])
  return combination!
}

/** The envelope of the rendered fixtures, and its JSON. */
export const payments = (
  edit: (json: { rules: Array<Record<string, unknown>>; params: Record<string, unknown> }) => void = () => {}
): Envelope => {
  const json = JSON.parse(
    readFileSync(new URL("../../../../../fixtures/envelopes/rendered/payments.json", import.meta.url), "utf8")
  )
  edit(json)
  return readAll(json)
}

const readAll = (json: unknown): Envelope => {
  const { envelope, findings } = readEnvelope(json)
  assert.deepEqual(findings, [])
  return envelope!
}
