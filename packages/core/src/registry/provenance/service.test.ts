import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Agents } from "../agents/service.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { Provenance } from "./service.ts"

const replayed = Effect.map(
  Replay.use(({ check }) => check),
  ({ differences }) => differences
)

describe("provenance", () => {
  it.effect("is listed with who said so and the record of it, and only of that agent", () =>
    Effect.gen(function* () {
      const provenance = yield* Provenance
      const { id } = yield* registered("courier")
      const other = yield* registered("other")
      const prompt = yield* provenance.add(
        id,
        { kind: "prompt", name: "system prompt", version: "3", digest: "sha256:ab", uri: "git://x", slsa_level: 2 },
        writer
      )
      assert.deepInclude(prompt, {
        agent_id: id,
        supplier: null,
        sbom_ref: null,
        slsa_level: 2,
        recorded_by: "system:host"
      })
      const model = yield* provenance.add(id, { kind: "model", name: "gpt-5" }, writer)
      assert.deepStrictEqual(
        [...(yield* provenance.list(id))].sort((a, b) => a.seq! - b.seq!),
        [prompt, model]
      )
      assert.deepStrictEqual(yield* provenance.list(other.id), [])
      const record = yield* Storage.use((storage) => storage.record(prompt.seq!))
      assert.strictEqual(prompt.record_hash, `sha256:${Buffer.from(record!.hash).toString("hex")}`)
      assert.notMatch(new TextDecoder().decode(record!.bytes), /system prompt|git/)
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is not found outside its org unit, and ends with the agent", () =>
    Effect.gen(function* () {
      const provenance = yield* Provenance
      const { id } = yield* registered("courier")
      for (const act of [
        provenance.add(id, { kind: "model", name: "m" }, writer, { orgUnits: ["sales"] }),
        provenance.list(id, { orgUnits: ["sales"] })
      ]) {
        assert.strictEqual(
          (yield* Effect.flip(act as Effect.Effect<unknown, { readonly _tag: string }>))._tag,
          "AgentNotFound"
        )
      }
      yield* Agents.use((agents) => agents.decommission(id, writer))
      assert.strictEqual(
        (yield* Effect.flip(provenance.add(id, { kind: "model", name: "m" }, writer)))._tag,
        "InvalidTransition"
      )
      assert.deepStrictEqual(yield* provenance.list(id), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("keeps its place when what was written of it is erased", () =>
    Effect.gen(function* () {
      const provenance = yield* Provenance
      const { id } = yield* registered("courier")
      const piece = yield* provenance.add(id, { kind: "prompt", name: "Ada's prompt", digest: "sha256:ab" }, writer)
      yield* Erasure.use((erasure) =>
        erasure.erase({ seq: piece.seq!, name: "profile", reason: "subject_request" }, writer)
      )
      assert.deepStrictEqual(yield* provenance.list(id), [{ ...piece, name: piece.id }])
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )
})
