import { canonicalBytes, encodeRecord, formatInstant, NO_RECORD, portableCrypto, toHex } from "@flyball/evidence"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import type { JsonObject, StoredRecord } from "../../storage/port.ts"
import { checkRecord, type Previous } from "./check-record.ts"
import { RecordGauge } from "./record-gauge.ts"

const AT_MS = 1_767_225_600_000
const previous: Previous = { seq: 6, hash: portableCrypto.sha256(Uint8Array.of(1)), atMs: AT_MS }

/** A stored record whose columns say what its bytes say. */
const stored = (bytes: Uint8Array, more: Partial<StoredRecord> = {}): StoredRecord => ({
  seq: 7,
  bytes,
  hash: portableCrypto.leafHash(bytes),
  kind: "decision.witnessed",
  agentId: "agt_a",
  atMs: AT_MS,
  ...more
})
const made = (body: JsonObject, more: Partial<Parameters<typeof encodeRecord>[0]> = {}): Uint8Array =>
  encodeRecord({
    at: formatInstant(AT_MS),
    body,
    kind: "decision.witnessed",
    parts: [{ c: "a".repeat(64), name: "args" }],
    prev: toHex(previous.hash),
    seq: 7,
    ...more
  })
const good = made({ agent_id: "agt_a", note: '"agent_id":"agt_b"' })

/**
 * Checks one record with `checkRecord` and with the gauge. Wherever the gauge returns a result, it must equal the
 * check's.
 */
const both = (record: StoredRecord, before: Previous | null = previous) => {
  const checked = checkRecord(portableCrypto, record, before)
  const gauged = new RecordGauge(portableCrypto).next(record, before)
  if (gauged !== null) assert.deepStrictEqual([gauged, checked.findings], [checked.next, []])
  return { isGood: checked.findings.length === 0, isGauged: gauged !== null }
}

describe("the gauge", () => {
  it("accepts valid records", () => {
    const genesis = made(
      { origin: "flyball.example/test" },
      { kind: "chain.genesis", prev: NO_RECORD, seq: 0, parts: [] }
    )
    assert.deepStrictEqual(both(stored(genesis, { seq: 0, kind: "chain.genesis", agentId: null }), null), {
      isGood: true,
      isGauged: true
    })
    assert.deepStrictEqual(both(stored(good)), { isGood: true, isGauged: true })
    assert.deepStrictEqual(both(stored(made({ name: "args", reason: "security", seq: 3 }))), {
      isGood: true,
      isGauged: true
    })
  })

  it("reads a page's records where they lie", () => {
    const page = new Uint8Array(good.length * 2 + 20)
    page.set(good, 10)
    page.set(good, 15 + good.length)
    for (const at of [10, 15 + good.length]) assert.isTrue(both(stored(page.subarray(at, at + good.length))).isGauged)
  })

  it("accepts no record with any single error", () => {
    const wrong: ReadonlyArray<StoredRecord> = [
      stored(good, { seq: 8 }),
      stored(good, { hash: previous.hash }),
      stored(good, { kind: "decision.settled" }),
      stored(good, { kind: "decision.witnesse" }),
      stored(good, { atMs: AT_MS + 1 }),
      stored(good, { agentId: "agt_b" }),
      stored(good, { agentId: "agt_" }),
      stored(good, { agentId: "agt_ab" }),
      stored(good, { agentId: null }),
      stored(made({ agent_id: "agt_a" }, { seq: 8 })),
      stored(made({ agent_id: "agt_a" }, { prev: "b".repeat(64) })),
      stored(made({ agent_id: "agt_a" }, { kind: "chain.genesis" }), { kind: "chain.genesis" }),
      stored(made({ agent_id: "agt_a" }, { at: formatInstant(AT_MS - 1) }), { atMs: AT_MS - 1 }),
      stored(canonicalBytes({ agent_id: "agt_a" })),
      stored(new Uint8Array(0)),
      stored(made({ agent_id: "a\\" }), { agentId: "a\\\\" }),
      stored(made({ agent_id: "agt_b", nested: { agent_id: "agt_a" } })),
      stored(made({ a: { agent_id: "agt_a" }, agent_id: "agt_b" })),
      stored(made({ a: [{ agent_id: "agt_a" }], agent_id: "agt_b" }))
    ]
    for (const [index, record] of wrong.entries())
      assert.deepStrictEqual(both(record), { isGood: false, isGauged: false }, `case ${index}`)
    assert.isFalse(both(stored(good), null).isGauged)
  })

  it("leaves undecided records to the full check", () => {
    assert.isTrue(both(stored(made({ agent_id: "agt_a", nested: { agent_id: "agt_b" } }))).isGauged)
    for (const body of [
      { a: [], agent_id: "agt_a", nested: { agent_id: "agt_b" } },
      { a: { agent_id: "agt_a" }, agent_id: "agt_a" },
      { agent_id: 7 }
    ])
      assert.deepStrictEqual(both(stored(made(body))), { isGood: true, isGauged: false })
    for (const agentId of ["é", 'a"b', "a\\b"])
      assert.deepStrictEqual(both(stored(made({ agent_id: agentId }), { agentId })), { isGood: true, isGauged: false })
  })

  it("never accepts a record that the full check refuses", () => {
    fc.assert(
      fc.property(
        fc.nat(good.length - 1),
        fc.nat(255),
        fc.constantFrom("agt_a", "agt_b", null),
        fc.boolean(),
        (at, byte, agentId, first) => {
          const bytes = good.slice()
          bytes[at] = byte
          both(stored(bytes, { agentId }), first ? null : previous)
        }
      ),
      { numRuns: 2_000, seed: 20_261_126 }
    )
  })
})
