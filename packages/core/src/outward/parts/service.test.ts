import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { Principals } from "../../registry/principals/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { Erasure } from "../erasure/service.ts"
import { Parts } from "./service.ts"

const ann = { id: `usr_${"0".repeat(25)}1` }

const witnessed = Effect.gen(function* () {
  const { id } = yield* registered("courier")
  const {
    receipts: [receipt]
  } = yield* Capture.use((capture) =>
    capture.witness(
      id,
      [{ client_ref: "r1", kind: "tool_call", action: "pay", status: "ok", args: { to: "Ünal" } }],
      ann
    )
  )
  return receipt!.seq
})
const get = (seq: number, name: string, orgUnits?: ReadonlyArray<string>) =>
  Parts.use((parts) => parts.get(seq, name, orgUnits === undefined ? undefined : { orgUnits }))
const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

describe("a part of a record", () => {
  it.effect("is its exact bytes, and makes the commitment of the record again with its salt", () =>
    Effect.gen(function* () {
      const seq = yield* witnessed
      const part = yield* get(seq, "args")
      assert.deepInclude(part, { seq, name: "args", text: '{"to":"Ünal"}' })
      const bytes = Buffer.from(part.bytes, "base64")
      assert.strictEqual(bytes.toString("utf8"), part.text)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(4)
      const made = createHmac("sha256", Buffer.from(part.salt, "base64"))
        .update("flyball/v1 part\0")
        .update(length)
        .update("args")
        .update(bytes)
      assert.strictEqual(made.digest("hex"), part.commitment)
      const record = (yield* Storage.use((storage) => storage.record(seq)))!
      assert.include(Buffer.from(record.bytes).toString("utf8"), `{"c":"${part.commitment}","name":"args"}`)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is refused once it is erased, with the record that says so", () =>
    Effect.gen(function* () {
      const seq = yield* witnessed
      const erased = yield* Erasure.use((erasure) => erasure.erase({ seq, name: "args", reason: "security" }, ann))
      const refusal = yield* Effect.flip(get(seq, "args"))
      assert.deepInclude(refusal, { _tag: "PartErased", erasedBy: erased.seq })
      assert.deepStrictEqual((yield* get(erased.seq, "authority")).text, `{"writer":"${ann.id}"}`)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is there only in a record that has it, and that the scope covers", () =>
    Effect.gen(function* () {
      const seq = yield* witnessed
      assert.strictEqual(yield* tag(get(seq, "result")), "PartNotFound")
      assert.strictEqual(yield* tag(get(1_000_000, "args")), "RecordNotFound")
      assert.strictEqual(yield* tag(get(seq, "args", ["sales"])), "RecordNotFound")
      assert.strictEqual((yield* get(seq, "args", ["ops"])).seq, seq)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("of a record about no agent needs every unit", () =>
    Effect.gen(function* () {
      yield* Principals.use((principals) => principals.writerFor("https://id.example", "ada"))
      const [seen] = yield* Storage.use((storage) =>
        storage.records({ kinds: ["principal.seen"], order: "desc", limit: 1 })
      )
      assert.include((yield* get(seen!.seq, "identity")).text!, "ada")
      assert.strictEqual(yield* tag(get(seen!.seq, "identity", ["ops"])), "RecordNotFound")
    }).pipe(Effect.provide(governorWorld()))
  )
})
