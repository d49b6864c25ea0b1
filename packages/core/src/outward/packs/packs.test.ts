import { assert, describe, it } from "@effect/vitest"
import { portableCrypto, type Report, verifyPack } from "@flyball/evidence"
import type { PackRequest } from "@flyball/contract"
import { Effect } from "effect"
import { append, draft, open, ORIGIN, pass, replaceStorage, session, world } from "../../testing/chain-world.ts"
import { Storage } from "../../storage/port.ts"

const writer = { id: "system:test" }
const decoder = new TextDecoder()

const bytesOf = (pack: AsyncIterable<Uint8Array>) =>
  Effect.promise(async () => {
    const chunks: Array<Uint8Array> = []
    for await (const chunk of pack) chunks.push(chunk)
    return Buffer.concat(chunks)
  })

type Services = Effect.Success<ReturnType<typeof open>>

/** Asks for a pack, takes it, verifies it with the pinned key. */
const taken = (
  { chain, packs }: Services,
  request: PackRequest,
  scope?: { readonly orgUnits: ReadonlyArray<string> }
) =>
  Effect.gen(function* () {
    const requested = yield* packs.request(request, writer, scope)
    const bytes = yield* bytesOf(yield* packs.build(requested.id, writer, scope))
    return { ...(yield* verified(bytes, chain.vkey)), requested, bytes }
  })

const verified = (bytes: Uint8Array, vkey: string) =>
  Effect.map(
    Effect.promise(() => verifyPack(portableCrypto, [bytes], { vkeys: [vkey] })),
    (report) => ({ report, lines: decoder.decode(bytes).split("\n").slice(0, -1) })
  )

const summary = ({ counts, exit, findings, verdicts }: Report) => ({
  exit,
  findings: findings.map(({ code, seq }) => `${code} ${seq}`),
  records: counts.records,
  disclosed: counts.parts_disclosed,
  withheld: counts.parts_withheld,
  erased: counts.parts_erased,
  completeness: verdicts.completeness
})

const seqs = (lines: ReadonlyArray<string>): ReadonlyArray<number> =>
  lines.filter((line) => line.startsWith("R ")).map((line) => JSON.parse(line.slice(2)).seq)

/** Genesis and 20 decisions, every second one with a part. */
const twenty = Effect.gen(function* () {
  const services = yield* open()
  yield* append(1, 20)
  return services
})

describe("a full pack", () => {
  it.effect("holds every record, and proves it", () =>
    Effect.gen(function* () {
      const { report } = yield* taken(yield* twenty, { kind: "full" })
      assert.deepStrictEqual(summary(report), {
        exit: 0,
        findings: [],
        records: 21,
        disclosed: 0,
        withheld: 10,
        erased: 0,
        completeness: "full"
      })
      assert.strictEqual(report.origin, ORIGIN)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("discloses all parts, or those of some names", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      const storage = yield* Storage
      yield* storage.commit({ records: [draft(21, { parts: ["args", "result"] })] })
      assert.strictEqual((yield* taken(services, { kind: "full", disclose: "all" })).report.counts.parts_disclosed, 12)
      const some = yield* taken(services, { kind: "full", disclose: ["result", "labels"] })
      assert.deepStrictEqual([some.report.exit, some.report.counts.parts_disclosed], [0, 1])
      assert.deepStrictEqual(
        some.lines.filter((line) => line.startsWith("D ")).map((line) => line.split(" ").slice(1, 3).join(" ")),
        ["21 result"]
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("says which parts were erased, in order of the records they were in", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      yield* services.erasure.erase({ seq: 8, name: "args", reason: "retention" }, writer)
      yield* services.erasure.erase({ seq: 4, name: "args", reason: "retention" }, writer)
      const { lines, report } = yield* taken(services, { kind: "full", disclose: "all" })
      assert.deepStrictEqual([report.exit, report.counts.parts_erased, report.counts.parts_disclosed], [0, 2, 10])
      assert.deepStrictEqual(
        lines.filter((line) => line.startsWith("E ")),
        ["E 4 args 22", "E 8 args 21"]
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("leaves nothing out", () =>
    Effect.gen(function* () {
      const { packs } = yield* twenty
      const error = yield* Effect.flip(
        packs.request({ kind: "full", from: 1, agent_id: null, kinds: ["capture.gap"] }, writer)
      )
      assert.deepStrictEqual(error._tag === "InvalidInput" ? error.detail.map(({ loc }) => loc.join(".")) : error, [
        "body.from",
        "body.kinds"
      ])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("a range pack", () => {
  it.effect("proves every range of a small chain", () =>
    Effect.gen(function* () {
      const services = yield* open()
      yield* append(1, 8)
      for (let from = 0; from <= 8; from++) {
        for (let to = from; to <= 8; to++) {
          const { report } = yield* taken(services, { kind: "range", from, to, disclose: "all" })
          assert.deepStrictEqual(
            [report.exit, report.counts.records, report.verdicts.completeness],
            [0, to - from + 1, "range"],
            `${from} to ${to}`
          )
          // The export of each is a record: the next pack is of a longer chain.
        }
      }
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("has an E line only where the record of the erasure is in it", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      yield* services.erasure.erase({ seq: 8, name: "args", reason: "retention" }, writer)
      const without = yield* taken(services, { kind: "range", from: 5, to: 20, disclose: "all" })
      assert.deepStrictEqual([without.report.exit, without.report.counts.parts_erased], [0, 0])
      const withIt = yield* taken(services, { kind: "range", from: 5, to: 21, disclose: "all" })
      assert.deepStrictEqual([withIt.report.exit, withIt.report.counts.parts_erased], [0, 1])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("covers the records of a span of time, whole", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      yield* pass(5)
      yield* append(21, 22)
      yield* pass(5)
      yield* append(23, 24)
      const times = { since: "1970-01-01T00:00:00.005Z", until: "1970-01-01T00:00:00.010Z" }
      const of = (request: Partial<PackRequest>) =>
        Effect.map(taken(services, { kind: "range", ...request }), ({ lines, report, requested }) => {
          assert.deepStrictEqual([report.exit, report.verdicts.completeness], [0, "range"])
          const held = seqs(lines)
          assert.deepStrictEqual([requested.from, requested.to], [held[0], held.at(-1)])
          return held
        })
      assert.deepStrictEqual(yield* of(times), [21, 22])
      assert.deepStrictEqual(yield* of({ ...times, from: 22 }), [22])
      assert.deepStrictEqual(yield* of({ until: times.since, from: 19 }), [19, 20])
      assert.deepStrictEqual((yield* of({ since: times.until })).slice(0, 2), [23, 24])
      assert.deepStrictEqual((yield* of({ since: "1969-01-01T00:00:00.000Z", to: 2 })).length, 3)
      const { packs } = services
      const loc = (request: Partial<PackRequest>) =>
        Effect.map(Effect.flip(packs.request({ kind: "range", ...request }, writer)), (error) =>
          error._tag === "InvalidInput" ? error.detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`) : error._tag
        )
      assert.deepStrictEqual(yield* loc({ ...times, until: "1970-01-01T00:00:00.006Z", from: 23 }), [
        "body.until: No record of the range was made between these times"
      ])
      assert.deepStrictEqual(yield* loc({ since: "2026-01-01T00:00:00.000Z" }), [
        "body.since: No record of the range was made since then"
      ])
      assert.deepStrictEqual(yield* loc({ ...times, until: times.since }), [
        "body.until: No record of the range was made between these times"
      ])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("stays inside the tree", () =>
    Effect.gen(function* () {
      const { packs } = yield* twenty
      const loc = (request: PackRequest) =>
        Effect.map(Effect.flip(packs.request(request, writer)), (error) =>
          error._tag === "InvalidInput" ? error.detail[0]!.loc : error._tag
        )
      assert.deepStrictEqual(yield* loc({ kind: "range", from: 3, to: 21 }), ["body", "to"])
      assert.deepStrictEqual(yield* loc({ kind: "range", from: 21 }), ["body", "from"])
      assert.deepStrictEqual(yield* loc({ kind: "range", from: 3, to: 2 }), ["body", "from"])
      assert.deepStrictEqual(yield* loc({ kind: "sparse", since: "yesterday" }), ["body", "since"])
      assert.deepStrictEqual(
        yield* loc({ kind: "sparse", since: "2026-02-01T00:00:00.000Z", until: "2026-01-01T00:00:00.000Z" }),
        ["body", "until"]
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("a sparse pack", () => {
  it.effect("holds what matches, each record with its proof", () =>
    Effect.gen(function* () {
      const services = yield* open()
      yield* append(1, 400)
      const storage = yield* Storage
      yield* storage.commit({
        records: [
          draft(401, { agentId: "agt_two", runId: "run-9", parts: ["args"] }),
          {
            kind: "decision.settled",
            agentId: "agt_two",
            body: { agent_id: "agt_two", decision_seq: 401 },
            parts: [{ name: "result", bytes: new Uint8Array([1]) }]
          },
          draft(403, { agentId: "agt_two", runId: "run-8" })
        ]
      })
      yield* services.erasure.erase({ seq: 402, name: "result", reason: "security" }, writer)
      const of = (request: Partial<PackRequest>) =>
        Effect.map(taken(services, { kind: "sparse", ...request }), ({ lines, report }) => {
          assert.deepStrictEqual([report.exit, report.verdicts.completeness], [0, "sparse_claimed"])
          return seqs(lines)
        })
      assert.deepStrictEqual(yield* of({ kinds: ["chain.genesis", "decision.settled"] }), [0, 402])
      assert.deepStrictEqual(
        yield* of({ run_id: "run-9", disclose: "all" }),
        [401, 402, 404],
        "the run's decision, its outcome, the erasure of that"
      )
      assert.deepStrictEqual(yield* of({ run_id: "run-9", from: 402, to: 403 }), [402])
      assert.deepStrictEqual(yield* of({ from: 300, to: 302, disclose: "all" }), [300, 301, 302])
      assert.deepStrictEqual(yield* of({ run_id: "no such run" }), [])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("is of the time from `since` on, up to `until`", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      yield* pass(5)
      yield* append(21, 22)
      yield* pass(5)
      yield* append(23, 24)
      const { lines, report } = yield* taken(services, {
        kind: "sparse",
        since: "1970-01-01T00:00:00.005Z",
        until: "1970-01-01T00:00:00.010Z"
      })
      assert.deepStrictEqual([report.exit, seqs(lines)], [0, [21, 22]])
      assert.deepStrictEqual(JSON.parse(lines[1]!.slice(2)).filter, {
        since: "1970-01-01T00:00:00.005Z",
        until: "1970-01-01T00:00:00.010Z"
      })
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("is all that people of one org unit get, and of their agents", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      const storage = yield* Storage
      const agent = (id: string, orgUnit: string) => ({
        collection: "agents",
        id,
        expectedVersion: 0,
        body: { orgUnit, name: id },
        keys: { org_unit: orgUnit },
        unique: { name: id }
      })
      yield* storage.commit({
        puts: [agent("agt_two", "claims"), agent("agt_three", "sales")],
        records: [draft(21, { agentId: "agt_two" }), draft(22, { agentId: "agt_three" })]
      })
      const claims = { orgUnits: ["claims"] }
      const { requested, lines, report } = yield* taken(services, { kind: "sparse" }, claims)
      assert.deepStrictEqual([report.exit, seqs(lines)], [0, [21]])
      assert.deepStrictEqual(JSON.parse(lines[1]!.slice(2)).filter, { agent_ids: ["agt_two"] })
      const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.map(Effect.flip(effect), (error) => error._tag)
      assert.strictEqual(yield* tag(services.packs.request({ kind: "full" }, writer, claims)), "Forbidden")
      assert.strictEqual(yield* tag(services.packs.request({ kind: "range", from: 1 }, writer, claims)), "Forbidden")
      assert.strictEqual(
        yield* tag(services.packs.request({ kind: "sparse", agent_id: "agt_three" }, writer, claims)),
        "AgentNotFound"
      )
      assert.strictEqual(yield* tag(services.packs.get(requested.id, { orgUnits: ["sales"] })), "PackNotFound")
      assert.deepStrictEqual(
        [
          (yield* services.packs.list(claims)).length,
          (yield* services.packs.list({ orgUnits: ["sales"] })).length,
          (yield* services.packs.list()).length
        ],
        [1, 0, 1]
      )
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

describe("an export", () => {
  it.effect("is recorded once, when the pack was first read to its end, with the digest that Z names", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      const { packs } = services
      const storage = yield* Storage
      const exported = Effect.map(storage.records({ kinds: ["evidence.exported"], limit: 9 }), (records) =>
        records.map(({ bytes }) => JSON.parse(decoder.decode(bytes)).body)
      )
      const requested = yield* packs.request({ kind: "full" }, writer)
      const half = (yield* packs.build(requested.id, writer))[Symbol.asyncIterator]()
      yield* Effect.promise(() => half.next())
      yield* Effect.promise(async () => half.return?.())
      assert.deepStrictEqual(yield* exported, [])
      const first = yield* bytesOf(yield* packs.build(requested.id, writer))
      const second = yield* bytesOf(yield* packs.build(requested.id, writer))
      assert.isTrue(first.equals(second), "made anew, of the same tree: the same bytes")
      const digest = /\nZ \d+ ([0-9a-f]{64})\n/.exec(first.toString())![1]
      assert.deepStrictEqual(yield* exported, [
        { digest, pack_id: requested.id, pack_kind: "full", tree_size: 21, writer: writer.id }
      ])
      assert.strictEqual((yield* packs.get(requested.id)).digest, `sha256:${digest}`)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("withholds what was erased after the request", () =>
    Effect.gen(function* () {
      const services = yield* twenty
      const requested = yield* services.packs.request({ kind: "full", disclose: "all" }, writer)
      yield* services.erasure.erase({ seq: 8, name: "args", reason: "retention" }, writer)
      const bytes = yield* bytesOf(yield* services.packs.build(requested.id, writer))
      const { report } = yield* verified(bytes, services.chain.vkey)
      assert.deepStrictEqual(summary(report), {
        exit: 0,
        findings: [],
        records: 21,
        disclosed: 9,
        withheld: 1,
        erased: 0,
        completeness: "full"
      })
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("that reads only uses the last signed checkpoint and writes nothing", () =>
    Effect.gen(function* () {
      yield* session(() => append(1, 4))
      yield* append(5, 6)
      const storage = yield* Storage
      const before = yield* storage.head
      const { report } = yield* session(
        ({ chain, packs }) =>
          Effect.flatMap(packs.export({ kind: "full", disclose: "all" }), (pack) =>
            Effect.flatMap(bytesOf(pack), (bytes) => verified(bytes, chain.vkey))
          ),
        { readOnly: true }
      )
      assert.deepStrictEqual([report.exit, report.tree_size], [0, 5])
      assert.deepStrictEqual([yield* storage.head, (yield* storage.list("packs")).length], [before, 0])
    }).pipe(Effect.provide(world()))
  )

  it.effect("of a store that lost a record ends without an end", () =>
    Effect.gen(function* () {
      const { packs } = yield* twenty
      const requested = yield* packs.request({ kind: "full" }, writer)
      const failure = yield* Effect.promise(async () => {
        try {
          for await (const _ of await Effect.runPromise(packs.build(requested.id, writer))) void _
          return "ended"
        } catch (error) {
          return (error as { readonly _tag: string })._tag
        }
      })
      assert.strictEqual(failure, "StorageCorrupt")
    }).pipe(
      replaceStorage((real) => {
        let exporting = false
        return {
          get: (collection, id) =>
            Effect.tap(real.get(collection, id), () =>
              Effect.sync(() => {
                exporting ||= collection === "packs"
              })
            ),
          records: (query) =>
            Effect.map(real.records(query), (page) => (exporting ? page.filter(({ seq }) => seq !== 5) : page))
        }
      }),
      Effect.scoped,
      Effect.provide(world())
    )
  )

  it.effect("streams, a chunk at a time", () =>
    Effect.gen(function* () {
      const services = yield* open()
      yield* append(1, 1_000)
      const requested = yield* services.packs.request({ kind: "full", disclose: "all" }, writer)
      const sizes: Array<number> = []
      const pack = yield* services.packs.build(requested.id, writer)
      yield* Effect.promise(async () => {
        for await (const chunk of pack) sizes.push(chunk.length)
      })
      assert.isAbove(sizes.length, 5)
      assert.isBelow(Math.max(...sizes), 70_000)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})
