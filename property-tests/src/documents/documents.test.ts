/** Documents through all floors: taken, extracted, on record, read by envelopes, and what replay finds of lies. */
import { assert, describe, it } from "@effect/vitest"
import {
  Erasure,
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  layerOf,
  memoryStorage,
  type OperationCaller,
  systemHost
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import type { ReplayRecord } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { ask, findingsWith, governedAgent } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { Documents } from "../../../packages/platform/src/documents/service.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { isFound, liesAbout, type Timed } from "../replay/lies.ts"
import { namedLies } from "../replay/named-lies.ts"

const ann = { id: `usr_${"0".repeat(25)}1` }
const invoice = `Muster Werkzeuge GmbH
Hauptstrasse 1, 10115 Berlin

Invoice

Invoice number: RE-2026-0815
Invoice date: 2026-11-03

Net total: 100.00 EUR
VAT 19 %: 19.00 EUR
Total: 119.00 EUR

IBAN: DE89 3704 0044 0532 0130 00
VAT ID: DE123456788
`
const page = {
  width: 59_500,
  height: 84_200,
  items: invoice
    .split("\n")
    .flatMap((text, line) =>
      text === ""
        ? []
        : [{ text, x: 5_000, y: 5_000 + 1_500 * line, width: 600 * text.length, height: 1_000, hidden: null }]
    )
}
const reader = {
  read: (file: { readonly path: string } | { readonly bytes: Uint8Array }, mediaType: string) =>
    mediaType === "text/plain"
      ? Effect.succeed({ pages: [page], xml: [], warnings: [] })
      : Effect.fail({ code: "unsupported_type" as const })
}
const layer = governorLayer({
  origin: "flyball.example/test",
  capabilities: [platform({ documents: { reader } })]
}).pipe(
  Layer.provideMerge(layerOf(memoryStorage())),
  Layer.provide(keysLayerOf(ephemeralKeys()))
  // The cast: services of capabilities are not in the type of the layer.
) as Layer.Layer<GovernorServices | Storage | Documents, unknown>

/** Pays what the document says, and reads text documents alone. */
const payments = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["pay", "documents.extract"], source: "caller" },
    amount: { type: "int", min: 0, max: 100_000_000, unit: "EUR/100", source: "args", from: "/amount", on_missing: 0 },
    document_total: { type: "int", min: 0, max: 100_000_000, unit: "EUR/100", source: "server", on_missing: 0 },
    document_confidence: { type: "int", min: 0, max: 1_000, source: "server", on_missing: 0 }
  },
  derived: { excess: { fn: "difference@1", args: ["amount", "document_total"] } },
  effects: { pay: "write_reversible", "documents.extract": "read" },
  rules: [
    { id: "read", outcome: "allow", when: [{ signal: "tool", in: ["documents.extract"] }] },
    {
      id: "pay",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["pay"] },
        { signal: "excess", lte: 0 },
        { signal: "document_confidence", gte: 500 }
      ]
    }
  ],
  default: { outcome: "deny" }
}

const callerOf = (agentId: string | null): OperationCaller =>
  ({
    account: { agentId, plan: "starter", reservation: null },
    received: null,
    writer: Effect.succeed(ann)
  }) as unknown as OperationCaller
const extract = (agentId: string | null, media = "text/plain", unit = "ops", retain = true) =>
  Effect.gen(function* () {
    const documents = yield* Documents
    const body = { content: Buffer.from(invoice).toString("base64"), media_type: media }
    const { id } = yield* documents.extract(
      unit,
      body,
      { documentType: null, waitS: 0, retain, model: null },
      callerOf(agentId)
    )
    yield* documents.work
    return yield* documents.get(unit, id)
  })

describe("a document", () => {
  it.effect("is extracted, and an agent cannot pay more than it says", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(payments)
      const read = yield* extract(agentId)
      assert.deepInclude(read, { status: "completed", document_type: "invoice" })
      assert.deepInclude(read.fields["total"], { value: "119.00" })
      assert.deepInclude(read.fields["iban"], { value: `${"•".repeat(18)}3000` })
      const pay = (amount: number, extraction_id: string | null = read.id) =>
        Effect.map(
          ask(agentId, { tool: "pay" }, { args: { amount }, ...(extraction_id === null ? {} : { extraction_id }) }),
          ({ outcome }) => (outcome === "allow_with_notice" ? "allow" : outcome)
        )
      assert.strictEqual(yield* pay(11_900), "allow")
      assert.strictEqual(yield* pay(11_901), "deny")
      assert.strictEqual(yield* pay(11_900, null), "deny", "without a document it pays nothing")
      const refused = yield* Effect.flip(pay(1, `ext_${"0".repeat(26)}`))
      assert.strictEqual(refused._tag, "InvalidInput")
      const foreign = yield* extract(null, "text/plain", "other")
      assert.strictEqual((yield* Effect.flip(pay(1, foreign.id)))._tag, "InvalidInput")
      const failed = yield* extract(agentId, "image/png")
      assert.deepInclude(failed, { status: "failed" })
      assert.strictEqual((yield* Effect.flip(pay(1, failed.id)))._tag, "InvalidInput")
      const stated = yield* ask(agentId, { tool: "pay", document_total: 99_999 }, { args: { amount: 1 } })
      assert.deepInclude(stated, { outcome: "deny", matched_rule: "@invalid_signal" })
      const records = yield* recorded
      assert.deepStrictEqual(
        records.flatMap(({ body, kind }) =>
          kind === "decision.witnessed" ? [[body["action"], body["capture"], body["status"], body["writer"]]] : []
        ),
        [
          ["documents.extract", "mediated", "ok", "system:documents"],
          ["documents.extract", "mediated", "error", "system:documents"]
        ]
      )
      assert.deepStrictEqual(yield* findingsWith((record) => record), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is not read where its agent's envelope denies it, and its values are revealed on record", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent({ ...payments, rules: payments.rules.slice(1) })
      const denied = yield* Effect.flip(extract(agentId))
      assert.deepInclude(denied, { _tag: "ExtractionDenied", outcome: "deny" })
      const documents = yield* Documents
      const { id } = yield* extract(null)
      const revealed = yield* documents.reveal("ops", id, ann)
      assert.strictEqual(revealed.fields["iban"], "DE89370400440532013000")
      assert.strictEqual((yield* Effect.flip(documents.reveal("hr", id, ann)))._tag, "ExtractionNotFound")
      const record = (yield* recorded).find(({ kind }) => kind === "extraction.completed")!
      for (const name of ["document", "fields"])
        yield* Erasure.use((erasure) => erasure.erase({ seq: record.seq, name, reason: "subject_request" }, systemHost))
      assert.deepInclude(yield* documents.get("ops", id), { status: "completed", fields: {}, candidates: {} })
      assert.deepStrictEqual((yield* documents.reveal("ops", id, ann)).fields, {})
      assert.deepStrictEqual(
        (yield* findingsWith((one) => one)).map(({ verdict }) => verdict),
        ["withheld"]
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("that lies is found by replay", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(payments)
      const { id } = yield* extract(agentId)
      yield* ask(agentId, { tool: "pay" }, { args: { amount: 11_900 }, extraction_id: id })
      yield* extract(null, "image/png")
      const storage = yield* Storage
      const times = new Map((yield* storage.records({ limit: 1_000 })).map(({ atMs, seq }) => [seq, atMs]))
      const history = (yield* recorded).map((record): Timed => ({ record, atMs: times.get(record.seq)! }))
      const kinds = ["extraction.completed", "extraction.failed"]
      const accepted = new Set<string>()
      for (const at of history.keys())
        if (kinds.includes(history[at]!.record.kind))
          for (const { records, what } of liesAbout(history, at))
            if (!isFound(records, "flyball.example/test")) accepted.add(`${history[at]!.record.kind}: ${what}`)
      assert.deepStrictEqual([...accepted].sort(), [...namedLies(kinds)].sort())
      const says = (more: object) => (record: ReplayRecord) =>
        record.kind === "evaluation.made" && record.body["extraction_id"] !== undefined
          ? { ...record, body: { ...record.body, ...more } as never }
          : record
      for (const other of [{ extraction_id: undefined }, { extraction_id: `ext_${"0".repeat(26)}` }])
        assert.isNotEmpty(yield* findingsWith(says(other)))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
