/** Documents on every store: many at once are each on record once, with their events, and replay agrees. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  memoryStorage,
  type OperationCaller,
  type StorageChoice
} from "@flyball/core"
import { layerOf, type Storage } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { Documents } from "../../../packages/platform/src/documents/service.ts"
import { platform } from "../../../packages/platform/src/index.ts"

const database = givenDatabase({ beforeAll, afterAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-documents-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const stores: ReadonlyArray<readonly [string, () => StorageChoice]> = [
  ["memory", memoryStorage],
  ["sqlite", () => sqliteStorage({ file: join(folder, "store.db") })],
  ["postgres", () => postgresStorage({ url: database.url })]
]

const ann = { id: `usr_${"0".repeat(25)}1` }
const caller = { account: null, received: null, writer: Effect.succeed(ann) } as unknown as OperationCaller
const item = (text: string) => ({ text, x: 5_000, y: 5_000, width: 9_000, height: 1_000, hidden: null })
const page = { width: 59_500, height: 84_200, items: [item("IBAN: DE89 3704 0044 0532 0130 00")] }
const long = { ...page, items: [...page.items, ...Array.from({ length: 300 }, () => item("a".repeat(4_000)))] }
const reader = {
  read: (_: unknown, media: string) =>
    media === "image/png"
      ? Effect.fail({ code: "no_text" as const })
      : Effect.succeed({ pages: [media === "text/html" ? long : page], xml: [], warnings: [] })
}

it.each(stores)("ends each of many documents once, on %s", async (_, open) => {
  const layer = governorLayer({
    origin: "flyball.example/stores",
    capabilities: [platform({ documents: { reader } })]
  }).pipe(Layer.provideMerge(layerOf(open())), Layer.provide(keysLayerOf(ephemeralKeys()))) as Layer.Layer<
    GovernorServices | Storage | Documents,
    unknown
  >
  const runtime = ManagedRuntime.make(layer)
  const program = Effect.gen(function* () {
    const documents = yield* Documents
    const extract = (media: string) =>
      documents.extract(
        "ops",
        { content: "aGk=", media_type: media },
        { documentType: "invoice", waitS: 0, retain: true, model: null },
        caller
      )
    const sent = ["text/plain", "text/html", "image/png"].flatMap((media) => Array.from({ length: 6 }, () => media))
    const all = { concurrency: 6 } as const
    const ids = (yield* Effect.forEach(sent, extract, all)).map(({ id }) => id)
    yield* Effect.forEach(sent, () => documents.work, { ...all, discard: true })
    const ends = yield* Effect.forEach(ids, (id) => documents.get("ops", id), all)
    const six = (...end: ReadonlyArray<string | undefined>) => Array.from({ length: 6 }, () => end)
    assert.deepStrictEqual(
      ends.map(({ error, fields, warnings }) => [
        error?.code ?? fields["iban"]?.value.slice(-4),
        ...warnings.map(({ code }) => code)
      ]),
      [...six("3000"), ...six("3000", "partly_read", "text_not_kept"), ...six("no_text")]
    )
    const revealed = yield* Effect.forEach(ids.slice(0, 6), (id) => documents.reveal("ops", id, ann), all)
    for (const { fields } of revealed) assert.strictEqual(fields["iban"], "DE89370400440532013000")
    // What ended is not ended again.
    yield* documents.endOverdue
    const records = yield* recorded
    const ended = records.filter(({ kind }) => kind === "extraction.completed" || kind === "extraction.failed")
    assert.deepStrictEqual(ended.map(({ body }) => body["extraction_id"]).sort(), ids.toSorted())
    assert.strictEqual(records.filter(({ kind }) => kind === "extraction.revealed").length, 6)
    const found = yield* findingsWith((record) => record)
    assert.deepStrictEqual(
      found.map(({ verdict }) => verdict),
      Array.from({ length: 6 }, () => "withheld"),
      "a text over 1 MiB is not kept"
    )
  })
  await runtime.runPromise(program)
  await runtime.dispose()
})
