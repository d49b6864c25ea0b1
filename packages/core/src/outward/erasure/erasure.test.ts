import { assert, describe, it } from "@effect/vitest"
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../registry/agents/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { IngestKeys } from "../../registry/ingest-keys/service.ts"
import { Principals } from "../../registry/principals/service.ts"
import { Chain } from "../../chain/chain.ts"
import { Replay } from "../replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { Erasure } from "./service.ts"

const writer = { id: "usr_00000000000000000000000001" }

const erase = (seq: number, name: string) =>
  Erasure.use((erasure) => erasure.erase({ seq, name, reason: "subject_request" }, writer))

const body = (seq: number) =>
  Effect.map(
    Storage.use((storage) => storage.record(seq)),
    (record) => {
      const read = readRecord(record!.bytes)
      return read.ok ? read.record : assert.fail("unreadable")
    }
  )

/** The seq of the last record of a kind. */
const lastOf = (kind: string) =>
  Effect.map(
    Storage.use((storage) => storage.records({ kinds: [kind], order: "desc", limit: 1 })),
    ([record]) => record!.seq
  )

const replayed = Effect.map(
  Replay.use(({ check }) => check),
  ({ differences }) => differences
)

describe("erasing a part", () => {
  it.effect("deletes its bytes and salt, and records which part, why and by whom", () =>
    Effect.gen(function* () {
      const agent = yield* registered("courier")
      const seq = yield* lastOf("agent.registered")
      const out = yield* erase(seq, "owner")
      const storage = yield* Storage
      const parts = yield* storage.parts([seq])
      assert.deepStrictEqual(
        parts.find(({ name }) => name === "owner"),
        { seq, name: "owner", salt: null, bytes: null, erasedBy: out.seq }
      )
      const record = yield* body(out.seq)
      assert.deepStrictEqual(
        [record.kind, record.body],
        ["part.erased", { name: "owner", reason: "subject_request", seq }]
      )
      assert.deepStrictEqual(
        record.parts.map(({ name }) => name),
        ["authority"]
      )
      const [authority] = yield* storage.parts([out.seq])
      assert.strictEqual(new TextDecoder().decode(authority!.bytes!), `{"writer":"${writer.id}"}`)
      assert.strictEqual((yield* storage.record(out.seq))!.agentId, agent.id)
      assert.deepStrictEqual(out.erased, { seq, name: "owner", reason: "subject_request" })
      const report = yield* Chain.use((chain) => chain.verify())
      assert.deepStrictEqual(report.findings, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("scrubs the agent that was made of it, owner and profile, and replay agrees", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const seq = yield* lastOf("agent.registered")
      yield* erase(seq, "owner")
      const agents = yield* Agents
      const without = yield* agents.get(id)
      assert.deepStrictEqual([without.name, without.owner_name, without.owner_email], ["courier", null, null])
      assert.deepStrictEqual(yield* replayed, [])
      yield* erase(seq, "profile")
      const empty = yield* agents.get(id)
      assert.deepStrictEqual([empty.name, empty.description, empty.org_unit], [id, null, null])
      assert.deepStrictEqual(yield* replayed, [])
      assert.isNull(yield* agents.find("courier"))
      assert.notStrictEqual((yield* registered("courier")).id, id, "the name is free again")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("of an owner leaves an orphan, whose week begins then; of an owner before leaves the one after", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_795_230_000_000)
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      const first = yield* lastOf("agent.registered")
      yield* agents.transferOwnership(id, { owner_name: "Grace", owner_email: "grace@example.org" }, writer)
      yield* erase(first, "owner")
      assert.deepInclude(yield* agents.get(id), { owner_name: "Grace", orphaned_since: null })
      yield* erase(yield* lastOf("agent.owner_transferred"), "owner")
      assert.deepInclude(yield* agents.get(id), { owner_name: null, orphaned_since: "2026-11-21T03:00:00.000Z" })
      assert.deepStrictEqual((yield* body(yield* lastOf("agent.orphaned"))).body, {
        agent_id: id,
        since: "2026-11-21T03:00:00.000Z",
        writer: "policy:erased_owner"
      })
      assert.deepStrictEqual(yield* replayed, [])
      yield* agents.transferOwnership(id, { owner_name: "Ada", owner_email: "ada@example.org" }, writer)
      yield* agents.decommission(id, writer)
      yield* erase(yield* lastOf("agent.owner_transferred"), "owner")
      assert.deepInclude(yield* agents.get(id), { owner_name: null, orphaned_since: null })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("of a profile that a later record replaced leaves the new one", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.update(id, { purpose: "carries" }, writer)
      const update = yield* lastOf("agent.updated")
      yield* agents.update(id, { risk_class: "high" }, writer)
      yield* erase(yield* lastOf("agent.registered"), "profile")
      assert.deepInclude(yield* agents.get(id), { name: "courier", purpose: "carries" })
      yield* erase(update, "profile")
      assert.deepInclude(yield* agents.get(id), { name: id, purpose: null })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("scrubs an ingest key, which opens nothing then", () =>
    Effect.gen(function* () {
      const keys = yield* IngestKeys
      const { id, key } = yield* keys.mint({ name: "ci of Ada", org_unit: "ops" }, writer)
      yield* erase(yield* lastOf("ingest_key.minted"), "profile")
      assert.deepStrictEqual(
        (yield* keys.list).map(({ name, org_unit }) => [name, org_unit]),
        [[id, null]]
      )
      assert.strictEqual((yield* Effect.flip(keys.authenticate(key)))._tag, "Unauthorized")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("scrubs who a pseudonym stands for; the person gets a new one", () =>
    Effect.gen(function* () {
      const principals = yield* Principals
      const first = yield* principals.writerFor("https://idp.example", "ada")
      yield* erase(yield* lastOf("principal.seen"), "identity")
      const document = yield* Storage.use((storage) => storage.get("principals", first.id))
      assert.deepStrictEqual(document?.body, { kind: "user", issuer: null, subject: null })
      assert.deepStrictEqual(yield* replayed, [])
      assert.notStrictEqual((yield* principals.writerFor("https://idp.example", "ada")).id, first.id)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("leaves no digest of a decision or its outcome: a retry answers the first receipt, restoring nothing", () =>
    Effect.gen(function* () {
      const capture = yield* Capture
      const storage = yield* Storage
      const { id } = yield* registered("courier")
      const witness = (args: string) =>
        Effect.map(
          capture.witness(id, [{ client_ref: "r1", kind: "tool_call", action: "pay", status: "ok", args }], writer),
          ({ receipts }) => receipts[0]!
        )
      const first = yield* witness("pin 1234")
      const settle = (result: string) => capture.settle(first.decision_id, { status: "ok", result }, writer)
      const settled = yield* settle("yes")
      yield* erase(first.seq, "args")
      yield* erase(settled.seq, "result")
      assert.deepStrictEqual(yield* storage.once(id, ["r1"]), [{ key: "r1", seq: first.seq, digest: null }])
      assert.deepStrictEqual(yield* storage.once("settle", [first.decision_id]), [
        { key: first.decision_id, seq: settled.seq, digest: null }
      ])
      // Equal answers for a right and a wrong guess: no oracle is left either.
      assert.deepStrictEqual(
        [yield* witness("pin 1234"), yield* witness("pin 9999")],
        [
          { ...first, duplicate: true },
          { ...first, duplicate: true }
        ]
      )
      assert.deepStrictEqual(
        [yield* settle("yes"), yield* settle("no")],
        [
          { ...settled, duplicate: true },
          { ...settled, duplicate: true }
        ]
      )
      assert.deepStrictEqual(
        (yield* storage.parts([first.seq, settled.seq])).map(({ bytes, salt }) => [bytes, salt]),
        [
          [null, null],
          [null, null]
        ]
      )
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is refused where there is nothing to erase, and changes nothing then", () =>
    Effect.gen(function* () {
      yield* registered("courier")
      const seq = yield* lastOf("agent.registered")
      const first = yield* erase(seq, "owner")
      const before = yield* Storage.use(({ head }) => head)
      const tag = (at: number, name: string) => Effect.map(Effect.flip(erase(at, name)), (error) => error._tag)
      assert.strictEqual(yield* tag(99, "owner"), "RecordNotFound")
      assert.strictEqual(yield* tag(0, "owner"), "PartNotFound", "genesis has no parts")
      assert.strictEqual(yield* tag(seq, "args"), "PartNotFound")
      assert.strictEqual(yield* tag(seq, "owner"), "PartErased")
      assert.strictEqual(yield* tag(first.seq, "authority"), "PartNotFound", "who erased is kept")
      assert.deepStrictEqual(yield* Storage.use(({ head }) => head), before)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("happens once when two ask at the same time", () =>
    Effect.gen(function* () {
      yield* registered("courier")
      const seq = yield* lastOf("agent.registered")
      const answers = yield* Effect.all([Effect.exit(erase(seq, "owner")), Effect.exit(erase(seq, "owner"))], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.map(({ _tag }) => _tag).sort(), ["Failure", "Success"])
    }).pipe(Effect.provide(governorWorld()))
  )
})
