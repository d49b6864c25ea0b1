import { assert, describe, it } from "@effect/vitest"
import { fromHex, portableCrypto, verifyConsistency, verifyInclusion } from "@flyball/evidence"
import { Effect } from "effect"
import { Storage } from "../storage/port.ts"
import { append, open, world } from "../testing/chain-world.ts"

const bytesOf = (digest: string): Uint8Array => fromHex(digest.slice("sha256:".length))!

describe("the chain", () => {
  it.effect("proves every record in every tree up to 300 records, and each tree's growth", () =>
    Effect.gen(function* () {
      const { chain } = yield* open()
      yield* append(1, 299)
      const last = yield* chain.consistency(0)
      assert.strictEqual(last.to, 300)
      for (let size = 1; size <= 300; size++) {
        // The corners of a tree, its powers of two, and a stride through the rest: all 45,150 pairs are the property
        // test's work.
        for (const seq of new Set(
          [0, 1, size >> 1, size - 2, size - 1, 255, 256, (size * 7) % 300].filter((seq) => seq >= 0 && seq < size)
        )) {
          const { proof, record_hash, root_hash } = yield* chain.proof(seq, size)
          assert.isTrue(
            verifyInclusion(portableCrypto, {
              seq,
              size,
              leaf: bytesOf(record_hash),
              proof: proof.map(bytesOf),
              root: bytesOf(root_hash)
            }),
            `${seq} in ${size}`
          )
        }
        const { from_root, proof, to_root } = yield* chain.consistency(size)
        assert.isTrue(
          verifyConsistency(portableCrypto, {
            from: size,
            to: 300,
            fromRoot: bytesOf(from_root),
            toRoot: bytesOf(to_root),
            proof: proof.map(bytesOf)
          }),
          `${size} to 300`
        )
      }
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("proves against the last checkpoint where it covers the record, else against the head", () =>
    Effect.gen(function* () {
      const { chain, checkpointer } = yield* open()
      yield* append(1, 4)
      const { note } = yield* checkpointer.now
      yield* append(5, 6)
      const [covered, newer] = [yield* chain.proof(2), yield* chain.proof(6)]
      assert.deepStrictEqual([covered.tree_size, covered.checkpoint], [5, note])
      assert.deepStrictEqual([newer.tree_size, newer.checkpoint], [7, null])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("refuses seqs and tree sizes that it does not have", () =>
    Effect.gen(function* () {
      const { chain } = yield* open()
      yield* append(1, 4)
      const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.map(Effect.flip(effect), (error) => error._tag)
      assert.strictEqual(yield* tag(chain.record(5)), "RecordNotFound")
      assert.strictEqual(yield* tag(chain.proof(5)), "RecordNotFound")
      assert.strictEqual(yield* tag(chain.proof(3, 3)), "InvalidInput")
      assert.strictEqual(yield* tag(chain.proof(3, 6)), "InvalidInput")
      assert.strictEqual(yield* tag(chain.consistency(3, 2)), "InvalidInput")
      assert.strictEqual(yield* tag(chain.consistency(3, 6)), "InvalidInput")
      assert.deepStrictEqual(yield* chain.records({ from: 5 }), [])
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("answers records as their exact bytes, by kind and agent, oldest first", () =>
    Effect.gen(function* () {
      const { chain } = yield* open()
      yield* append(1, 150)
      assert.strictEqual((yield* chain.records({})).length, 100)
      assert.deepStrictEqual(
        (yield* chain.records({ kind: "chain.genesis" })).map(({ seq }) => seq),
        [0]
      )
      assert.deepStrictEqual(
        (yield* chain.records({ agent_id: "agt_one", from: 148, limit: 2 })).map(({ seq }) => seq),
        [148, 149]
      )
      const [record] = yield* chain.records({ from: 7, limit: 1 })
      assert.deepStrictEqual(portableCrypto.leafHash(record!.bytes), record!.hash)
      assert.deepStrictEqual(yield* chain.record(7), record)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("lists its keys, including rotated ones", () =>
    Effect.gen(function* () {
      const { chain } = yield* open()
      assert.deepStrictEqual(
        (yield* chain.keys).map(({ current, name, since_seq, vkey }) => ({ current, name, since_seq, vkey })),
        [{ current: true, name: chain.origin, since_seq: 0, vkey: chain.vkey }]
      )
      const storage = yield* Storage
      const first = chain.vkey
      const next = first.replace("+A", "+B")
      yield* storage.commit({
        records: [
          { kind: "key.rotated", agentId: null, body: { from_key_id: first.split("+")[1]!, to_vkey: next }, parts: [] }
        ]
      })
      assert.deepStrictEqual(
        (yield* chain.keys).map(({ current, since_seq, vkey }) => ({ current, since_seq, vkey })),
        [
          { current: false, since_seq: 0, vkey: first },
          { current: true, since_seq: 1, vkey: next }
        ]
      )
      assert.strictEqual(chain.vkey, next, "what was read is remembered")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )
})
