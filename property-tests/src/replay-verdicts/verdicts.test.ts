/**
 * Chains that were changed and sealed again by who holds the key: hashes, root and signatures are right, and only
 * replay finds it.
 */
import type { JsonObject, JsonValue } from "@flyball/evidence"
import { canonicalBytes, toHex, utf8 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { openPack, type OpenPack, type OpenRecord } from "@flyball/testkit"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { boundedLife } from "./bounded-life.ts"
import { exported, inBoundedWorld, refunds } from "./bounded-world.ts"
import { changed, resealed, sealed, withBody, withPart } from "./changed-pack.ts"
import { replayed } from "./replayed.ts"

let genuine: { readonly pack: Uint8Array; readonly vkey: string }
let open: OpenPack
let life: { readonly agentId: string; readonly envelopeId: string }
beforeAll(async () => {
  const made = await inBoundedWorld(
    Effect.gen(function* () {
      const lived = yield* boundedLife
      return { lived, ...(yield* exported({ kind: "full" })) }
    })
  )
  genuine = made
  life = made.lived
  open = openPack(made.pack)
})

const evaluations = (): ReadonlyArray<number> =>
  open.records.flatMap(({ kind }, seq) => (kind === "evaluation.made" ? [seq] : []))
/** Seq of the first evaluation that says this. */
const where = (says: (body: JsonObject) => boolean, after = 0): number => {
  const seq = evaluations().find((one) => one > after && says(open.records[one]!.body))
  if (seq === undefined) throw new Error("The history has no such evaluation.")
  return seq
}
const at = (seq: number, change: (record: OpenRecord) => OpenRecord): OpenPack => changed(open, seq, change)
const body = (seq: number, change: (body: JsonObject) => JsonObject): OpenPack => withBody(open, seq, change)
const meters = (one: JsonObject): ReadonlyArray<JsonObject> => one["meters"] as ReadonlyArray<JsonObject>
const withJson = (record: OpenRecord, name: string, value: unknown): OpenRecord =>
  withPart(record, name, canonicalBytes(value))
const list = (value: JsonValue): ReadonlyArray<JsonObject> => value as ReadonlyArray<JsonObject>

describe("an unchanged chain", () => {
  it("replays every evaluation as ok", async () => {
    const { replay, status, text } = await replayed(genuine.pack, genuine.vkey)
    expect(replay).toMatchObject({
      evaluations: evaluations().length,
      verdicts: { ok: evaluations().length },
      mismatches: [],
      withheld: [],
      unreadable_records: 0
    })
    expect(status).toBe(0)
    expect(text).toContain(`Evaluations     ${evaluations().length} recomputed: ${evaluations().length} ok.`)
    expect(text).toMatch(/is not\s+proved by this/)
    const rules = new Set(
      open.records.flatMap(({ body, kind }) => (kind === "evaluation.made" ? [body["matched_rule"]] : []))
    )
    // What the history is for: everything that an evaluation can depend on.
    expect([...rules].sort()).toEqual(
      [
        "@invalid_signal",
        "@no_envelope",
        "@suspended",
        "@tier_floor",
        "all",
        "cap",
        "large",
        "search",
        "tainted"
      ].sort()
    )
  })

  it("replays the same after it was parsed and sealed again", async () => {
    expect(await resealed(open)).toMatchObject({
      status: 0,
      integrity: "ok",
      authenticity: "signed_by_pinned_key",
      replay: { mismatches: [], withheld: [] }
    })
  })
})

describe("replay finds, in a chain that the key holder changed,", () => {
  /** The pack itself is found in order, and replay finds the change, and nothing before it. */
  const expectFound = async (wrong: OpenPack, seq: number, verdict: string, reason: RegExp = /./): Promise<void> => {
    const { authenticity, findings, integrity, replay, status, text } = await resealed(wrong)
    expect({ authenticity, findings, integrity, status }).toEqual({
      authenticity: "signed_by_pinned_key",
      findings: [],
      integrity: "ok",
      status: 1
    })
    expect({ seq: replay!.mismatches[0]!.seq, verdict: replay!.mismatches[0]!.verdict }).toEqual({ seq, verdict })
    expect(replay!.mismatches[0]!.reason).toMatch(reason)
    expect(text).toContain(`Record ${seq}: `)
    expect(text).toContain("BAD. The pack is as its signer sealed it")
  }
  const denied = () => where(({ matched_rule }) => matched_rule === "cap")
  const notified = () => where((one) => meters(one).length > 0 && one["outcome"] === "allow_with_notice")

  it("another outcome", () =>
    expectFound(
      body(denied(), (one) => ({ ...one, outcome: "allow" })),
      denied(),
      "outcome_mismatch",
      /^The outcome is deny; the record says allow\.$/
    ))
  it("another matched rule", () =>
    expectFound(
      body(denied(), (one) => ({ ...one, matched_rule: "refund" })),
      denied(),
      "rule_mismatch",
      /^The rule is cap; the record says refund\.$/
    ))
  it("another trace", () =>
    expectFound(
      body(denied(), (one) => ({ ...one, trace: (one["trace"] as ReadonlyArray<number>).toReversed() })),
      denied(),
      "trace_mismatch"
    ))
  it("an omitted latch", () => {
    const seq = where(({ latches }) => latches !== undefined)
    return expectFound(
      body(seq, ({ latches: _, ...one }) => one),
      seq,
      "trace_mismatch",
      /latches/
    )
  })
  it("a verdict marked as shadow", () =>
    expectFound(
      body(denied(), (one) => ({ ...one, mode: "shadow" })),
      denied(),
      "trace_mismatch",
      /its mode is enforced; the record says shadow\.$/
    ))
  it.each(["sdk_cache", "fail_open", "fail_closed"])("a verdict decided by %s", (by) =>
    expectFound(
      body(denied(), (one) => ({ ...one, decided_by: by })),
      denied(),
      "trace_mismatch",
      new RegExp(`^The server decides an evaluation; the record says ${by}\\.$`)
    )
  )
  it("another meter value", () =>
    expectFound(
      body(denied(), (one) => ({ ...one, meters: meters(one).map((meter) => ({ ...meter, value: 0, after: 0 })) })),
      denied(),
      "meter_mismatch",
      /^The meter spent held /
    ))
  it("another amount of an evaluation", () => {
    const seq = notified()
    return expectFound(
      body(seq, (one) => ({
        ...one,
        meters: meters(one).map((meter) => ({ ...meter, amount: 1, after: Number(meter["value"]) + 1 }))
      })),
      seq,
      "meter_mismatch"
    )
  })
  it("a later time, at which the windows are empty", () => {
    const seq = denied()
    return expectFound(
      body(seq, (one) => ({ ...one, as_of_ms: Number(one["as_of_ms"]) + 86_400_000 })),
      seq,
      "meter_mismatch",
      /was made at/
    )
  })
  it("another tier", () =>
    expectFound(
      body(notified(), (one) => ({ ...one, tier: "L4" })),
      notified(),
      "tier_mismatch",
      /^The agent's tier was L2; the record says L4\.$/
    ))
  it("another status", () => {
    const seq = where(({ matched_rule }) => matched_rule === "@suspended")
    return expectFound(
      body(seq, (one) => ({ ...one, agent_status: "active" })),
      seq,
      "tier_mismatch"
    )
  })
  it("a verdict on signals that the envelope does not accept", () => {
    const seq = where(({ matched_rule }) => matched_rule === "@invalid_signal")
    const good = open.records[denied()]!.body
    return expectFound(
      body(seq, ({ stopped_on: _, ...one }) => ({
        ...one,
        matched_rule: "cap",
        meters: good["meters"]!,
        trace: good["trace"]!
      })),
      seq,
      "signal_invalid"
    )
  })
  it("other signals under an unchanged verdict", () => {
    const seq = denied()
    return expectFound(
      at(seq, (record) => withJson(record, "signals", { tool: "search" })),
      seq,
      "meter_mismatch"
    )
  })
  it("another envelope in its own record", () => {
    const seq = open.records.findIndex(({ kind }) => kind === "envelope.published")
    return expectFound(
      at(seq, (record) =>
        withJson(record, "envelope", refunds({ meters: {}, rules: [{ id: "all", outcome: "allow", when: [] }] }))
      ),
      where(({ layers }) => list(layers!).length > 0),
      "envelope_unknown"
    )
  })
  it.each([
    ["a number that no double holds", utf8('{"default":1e999}')],
    ["half a character", utf8('{"default":"\\ud800"}')],
    ["extreme nesting", utf8(`{"default":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)],
    ["very many members", utf8(JSON.stringify({ default: Array.from({ length: 200_000 }, (_, n) => n) }))]
  ] as const)("an envelope with %s", (_, bytes) => {
    const seq = open.records.findIndex(({ kind }) => kind === "envelope.published")
    return expectFound(
      at(seq, (record) => withPart(record, "envelope", bytes)),
      where(({ layers }) => list(layers!).length > 0),
      "envelope_unknown"
    )
  })
  it.each(["diff", "lint", "backtest"])("a %s with extreme nesting", async (name) => {
    const seq = open.records.findIndex(({ kind }) => kind === "envelope.published")
    const { replay, status } = await resealed(
      at(seq, (record) => withPart(record, name, utf8("[".repeat(100_000) + "]".repeat(100_000))))
    )
    expect([status, replay!.four_eyes.mismatches.map((one) => [one.seq, one.verdict])]).toEqual([
      1,
      [[seq, "digest_mismatch"]]
    ])
  })
  it("another envelope with its digest", () => {
    const seq = open.records.findIndex(({ kind }) => kind === "envelope.published")
    const looser = refunds({ rules: [{ id: "all", outcome: "allow", when: [] }] })
    const changed = at(seq, (record) =>
      withJson(
        { ...record, body: { ...record.body, digest: toHex(nodeCrypto.sha256(canonicalBytes(looser))) } },
        "envelope",
        looser
      )
    )
    return expectFound(
      changed,
      where(({ layers }) => list(layers!).length > 0),
      "envelope_unknown"
    )
  })
  it("another envelope with its digest in all records, by the outcomes that do not follow", () => {
    const seq = open.records.findIndex(({ kind }) => kind === "envelope.published")
    const looser = refunds({ rules: [{ id: "all", outcome: "allow", when: [] }] })
    const [before, digest] = [open.records[seq]!.body["digest"], toHex(nodeCrypto.sha256(canonicalBytes(looser)))]
    const swapped = at(seq, (record) => withJson(record, "envelope", looser)).records.map((record) => ({
      ...record,
      body: JSON.parse(JSON.stringify(record.body).replaceAll(String(before), digest)) as JsonObject
    }))
    return expectFound(
      { ...open, records: swapped },
      where(({ layers }) => list(layers!).length > 0),
      "outcome_mismatch"
    )
  })
  it("a version that was replaced", () => {
    const old = open.records[denied()]!.body["layers"]!
    const seq = where(({ layers }) => list(layers!).some(({ version }) => Number(version) === 3))
    return expectFound(
      body(seq, (one) => ({
        ...one,
        layers: list(one["layers"]!).map((layer) => (layer["envelope_id"] === life.envelopeId ? list(old)[0]! : layer))
      })),
      seq,
      "envelope_not_in_force"
    )
  })
  it("an envelope that was withdrawn", () => {
    const withdrawn = open.records.findIndex(({ kind }) => kind === "envelope.withdrawn")
    const seq = where(({ matched_rule }) => matched_rule === "@no_envelope", withdrawn)
    const before = evaluations().findLast(
      (one) => one < withdrawn && open.records[one]!.body["matched_rule"] !== "@suspended"
    )!
    return expectFound(
      body(seq, (one) => ({
        ...one,
        layers: open.records[before]!.body["layers"]!,
        outcome: "allow",
        matched_rule: "refund"
      })),
      seq,
      "envelope_not_in_force"
    )
  })
  it("a waiver that no longer applied", () => {
    const held = where(({ waivers }) => waivers !== undefined)
    const seq = evaluations().find((one) => one > held && open.records[one]!.body["waivers"] === undefined)!
    return expectFound(
      body(seq, (one) => ({ ...one, waivers: open.records[held]!.body["waivers"]! })),
      seq,
      "envelope_not_in_force"
    )
  })
  it("a malformed body of an evaluation", () =>
    expectFound(
      body(denied(), (one) => ({ ...one, layers: "none" })),
      denied(),
      "trace_mismatch",
      /layers/
    ))
})

describe("a pack with undisclosed parts", () => {
  const packOf = (request: Parameters<typeof exported>[0]) =>
    inBoundedWorld(
      Effect.gen(function* () {
        yield* boundedLife
        return yield* exported(request)
      })
    )

  it("gives withheld, never ok, for undisclosed inputs", async () => {
    const all = evaluations().length
    // Where nothing is in force, no envelope is needed to say so.
    const bare = evaluations().filter((seq) => open.records[seq]!.body["matched_rule"] === "@no_envelope").length
    for (const [disclose, ok] of [
      ["none", 0],
      [["envelope", "profile", "waiver"], 0],
      [["signals", "profile", "waiver"], bare],
      [["signals", "envelope", "waiver"], 0]
    ] as const) {
      const { pack, vkey } = await packOf({ kind: "full", disclose })
      const { notChecked, replay, status } = await replayed(pack, vkey)
      expect(replay!.verdicts, String(disclose)).toEqual({ withheld: all - ok, ...(ok === 0 ? {} : { ok }) })
      expect([status, notChecked[0]]).toEqual([
        2,
        `${all - ok} judged records could not be recomputed, because their inputs are not in this pack. Request a ` +
          `full pack that discloses them.`
      ])
    }
  })

  it("still has its mode and decided_by checked", async () => {
    const seq = where((one) => meters(one).length > 0)
    const shut = (record: OpenRecord): OpenRecord => ({
      ...record,
      parts: record.parts.map((part) => ({ ...part, disclosed: part.name === "signals" ? null : part.disclosed }))
    })
    for (const reported of [{ mode: "shadow" }, { decided_by: "fail_open" }]) {
      const { replay, status } = await resealed(
        changed(open, seq, (record) => shut({ ...record, body: { ...record.body, ...reported } }))
      )
      expect([status, replay!.mismatches.map((one) => [one.seq, one.verdict])]).toEqual([1, [[seq, "trace_mismatch"]]])
    }
  })

  it("still has mismatches found that need no signals", async () => {
    const seq = where((one) => meters(one).length > 0 && one["outcome"] === "allow_with_notice")
    const shut = (changed: OpenPack): OpenPack => ({
      ...changed,
      records: changed.records.map((record) => ({
        ...record,
        parts: record.parts.map((part) => ({ ...part, disclosed: part.name === "signals" ? null : part.disclosed }))
      }))
    })
    const { replay, status } = await resealed(shut(body(seq, (one) => ({ ...one, tier: "L4" }))))
    expect([status, replay!.mismatches.map((one) => [one.seq, one.verdict])]).toEqual([1, [[seq, "tier_mismatch"]]])
  })

  it("proves no sum that includes an amount without its signals", async () => {
    const seq = where((one) => meters(one).some(({ amount }) => amount !== undefined))
    const hidden = at(seq, (record) => ({
      ...record,
      parts: record.parts.map((part) => ({ ...part, disclosed: part.name === "signals" ? null : part.disclosed }))
    }))
    const { replay, status } = await resealed(hidden)
    expect(status).toBe(2)
    expect(replay!.mismatches).toEqual([])
    const [itself, ...others] = replay!.withheld
    expect(itself).toMatchObject({ seq, reason: "The signals are not shown." })
    for (const one of others)
      expect(one.reason).toBe("The meter spent holds amounts of evaluations that could not be recomputed.")
    // Those of the same day, and no others: what they add themselves is known, and a day later the window holds nothing
    // of the hidden one.
    const untilMs = Number(open.records[seq]!.body["as_of_ms"]) + 86_400_000
    expect(others.map((one) => one.seq)).toEqual(
      evaluations().filter(
        (one) =>
          one > seq &&
          meters(open.records[one]!.body).some(({ id }) => id === "spent") &&
          Number(open.records[one]!.body["as_of_ms"]) < untilMs
      )
    )
  })

  it("still has a verdict found that does not follow from the recorded sums", async () => {
    const seq = where((one) => meters(one).some(({ amount }) => amount !== undefined))
    const later = where(({ matched_rule }) => matched_rule === "cap")
    const hidden = openPack((await sealed(body(later, (one) => ({ ...one, outcome: "allow" })))).pack)
    const records = hidden.records.map((record, place) => ({
      ...record,
      parts: record.parts.map((part) => ({
        ...part,
        disclosed: place === seq && part.name === "signals" ? null : part.disclosed
      }))
    }))
    const { replay, status } = await resealed({ ...hidden, records })
    expect([status, replay!.mismatches.map((one) => [one.seq, one.verdict])]).toEqual([
      1,
      [[later, "outcome_mismatch"]]
    ])
  })

  it("of a range is replayed as far as it reaches, without findings about earlier records", async () => {
    const size = open.records.length
    for (const from of [1, 3, Math.floor(size / 2), size - 4]) {
      const { pack, vkey } = await packOf({ kind: "range", from, to: size - 1 })
      const { replay, status } = await replayed(pack, vkey)
      expect(replay!.mismatches).toEqual([])
      expect([0, 2]).toContain(status)
      expect((replay!.verdicts.ok ?? 0) + (replay!.verdicts.as_recorded ?? 0) + (replay!.verdicts.withheld ?? 0)).toBe(
        evaluations().filter((seq) => seq >= from).length
      )
      // The agent is registered in record 1: from there on only latches may reach back too far, since its envelopes are
      // begun here and their windows hold nothing from before.
      if (from === 1) expect(replay!.verdicts.ok).toBeGreaterThan(0)
      expect(replay!.withheld.filter(({ reason }) => from === 1 && reason.includes("reaches back"))).toEqual([])
      if (from > 3) expect(replay!.verdicts.ok).toBeUndefined()
    }
  })

  it("is not replayed when it is sparse, and the report gives the reason", async () => {
    const { pack, vkey } = await packOf({ kind: "sparse" })
    const { notChecked, replay, status, text } = await replayed(pack, vkey)
    expect([status, replay, notChecked[0]]).toEqual([
      2,
      null,
      "Evaluations were not recomputed: that needs a full or range pack, because each depends on the records before it."
    ])
    expect(text).toContain("that needs a full or range pack")
  })
})
