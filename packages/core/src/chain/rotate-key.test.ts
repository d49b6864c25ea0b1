import { assert, describe, it } from "@effect/vitest"
import { formatVkey, parseNote, parseVkey, portableCrypto, utf8, verifyNote, verifyPack } from "@flyball/evidence"
import { Context, Effect, Fiber, Layer } from "effect"
import { Storage } from "../storage/port.ts"
import { append, open, ORIGIN, pass, replaceStorage, session, world } from "../testing/chain-world.ts"
import { Chain } from "./chain.ts"
import { Checkpointer, CHECKPOINT_MS } from "./checkpointer.ts"
import { latestCheckpoint } from "./check/checkpoints.ts"
import { Guard } from "./keys/guard.ts"
import { KeyRotation } from "./rotate-key.ts"
import { Signer, type SignerApi } from "./keys/signer.ts"

const options = { origin: ORIGIN }

/** The services of this folder and the rotation, over whatever store and keys are there. */
const openRotating = Effect.gen(function* () {
  const signing = Checkpointer.layer().pipe(Layer.provideMerge(Chain.layer(options)))
  const context = yield* Layer.build(KeyRotation.layer().pipe(Layer.provideMerge(signing), Layer.fresh))
  return {
    chain: Context.get(context, Chain),
    checkpointer: Context.get(context, Checkpointer),
    rotate: Context.get(context, KeyRotation).rotate,
    last: Context.get(context, KeyRotation).last
  }
})

/** The vkeys, out of these, whose signature on the note verifies. */
const signersOf = (note: string, vkeys: ReadonlyArray<string>): ReadonlyArray<string> => {
  const parsed = parseNote(utf8(note))
  return vkeys.filter((text) => {
    const key = parseVkey(text)
    return parsed.ok && key.ok && verifyNote(portableCrypto, parsed.note, [key.vkey]).verified.length === 1
  })
}

/** A signer that holds this one's first key for ever: a process whose keys are in memory, or on another host. */
const onlyFirstKey = Effect.updateService(Signer, ({ origin, publicKey, sign }) => ({ origin, publicKey, sign }))

/** The record of a rotation, and nothing of what follows it. */
const recorded = Effect.gen(function* () {
  const noLease = replaceStorage(() => ({ lease: () => Effect.die("killed") }))
  yield* Effect.exit(Effect.scoped(Effect.flatMap(openRotating, ({ rotate }) => rotate)).pipe(noLease))
  const storage = yield* Storage
  assert.strictEqual((yield* storage.records({ kinds: ["key.rotated"], limit: 9 })).length, 1)
})

describe("rotating the key", () => {
  it.effect("records it, has both keys sign one checkpoint, and the new one alone those that follow", () =>
    Effect.gen(function* () {
      const { chain, checkpointer, last, rotate } = yield* openRotating
      yield* append(1, 5)
      const before = yield* checkpointer.now
      const old = chain.vkey
      const rotated = yield* rotate
      assert.deepStrictEqual([rotated.fromVkey, rotated.seq, rotated.checkpoint.size], [old, 6, 7])
      assert.deepStrictEqual(
        [chain.vkey, (yield* chain.keys).map(({ current, since_seq, vkey }) => ({ current, since_seq, vkey }))],
        [
          rotated.toVkey,
          [
            { current: false, since_seq: 0, vkey: old },
            { current: true, since_seq: 6, vkey: rotated.toVkey }
          ]
        ]
      )
      assert.deepStrictEqual(yield* last, rotated)
      yield* append(7, 8)
      const after = yield* checkpointer.now
      const both = [old, rotated.toVkey]
      assert.deepStrictEqual(
        [before, rotated.checkpoint, after].map(({ note }) => signersOf(note, both)),
        [[old], both, [rotated.toVkey]]
      )
      assert.isTrue((yield* chain.verify()).ok)
      const signer = yield* Signer
      assert.match((yield* Effect.flip(signer.sign(utf8("x")))).message, /rotated away and destroyed/)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("continues with the next key after it was opened again, and can be done again", () =>
    Effect.gen(function* () {
      const vkeys: Array<string> = []
      for (let round = 0; round < 3; round++) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { chain, rotate } = yield* openRotating
            vkeys.push(chain.vkey)
            yield* append(round * 10, round * 10 + 3)
            yield* rotate
          })
        )
      }
      assert.strictEqual(new Set(vkeys).size, 3)
      const report = yield* session(({ chain }) => chain.verify(), { readOnly: true })
      assert.deepStrictEqual([report.ok, report.findings], [true, []])
    }).pipe(Effect.provide(world()))
  )

  it.effect("requested by two at once is one rotation", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* openRotating, yield* openRotating]
      const calls = yield* Effect.forEach([one.rotate, two.rotate], (rotate) => Effect.forkChild(Effect.exit(rotate)))
      // The caller that does not get the lease reads again.
      yield* pass(1_000)
      const both = yield* Effect.forEach(calls, Fiber.join)
      const storage = yield* Storage
      const records = yield* storage.records({ kinds: ["key.rotated"], limit: 9 })
      const keys = yield* one.chain.keys
      // The second may come too late for the same one, and is then refused or makes the next; there is never a fork.
      assert.include([1, 2], records.length)
      assert.deepStrictEqual(
        keys.map(({ since_seq }) => since_seq),
        [0, ...records.map(({ seq }) => seq)]
      )
      assert.isTrue(both.some((exit) => exit._tag === "Success"))
      assert.isTrue((yield* one.chain.verify()).ok)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  /**
   * Two that have both planned before either commits; the second may hold another next key. Answers how both ended, and
   * the records.
   */
  const meeting = (second: (signer: SignerApi) => SignerApi) =>
    Effect.gen(function* () {
      const planned = { count: 0 }
      const meet = replaceStorage((real) => ({
        commit: (change) =>
          change.records?.[0]?.kind !== "key.rotated"
            ? real.commit(change)
            : Effect.gen(function* () {
                planned.count += 1
                while (planned.count < 2)
                  yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
                return yield* real.commit(change)
              })
      }))
      const [one, two] = yield* meet(
        Effect.all([openRotating, openRotating.pipe(Effect.updateService(Signer, second))])
      )
      const calls = yield* Effect.forEach([one.rotate, two.rotate], (rotate) => Effect.forkChild(Effect.exit(rotate)))
      yield* pass(1_000)
      const ended = yield* Effect.forEach(calls, Fiber.join)
      return { ended, records: yield* (yield* Storage).records({ kinds: ["key.rotated"], limit: 9 }) }
    }).pipe(Effect.scoped, Effect.provide(world()))

  it.effect("planned by two before either commits is one record, and the same answer to both", () =>
    Effect.gen(function* () {
      const { ended, records } = yield* meeting((signer) => signer)
      assert.deepStrictEqual([ended.map(({ _tag }) => _tag), records.length], [["Success", "Success"], 1])
      assert.deepStrictEqual(ended[0], ended[1])
    })
  )

  it.effect("planned by two with different next keys is one record, and a refusal for the other", () =>
    Effect.gen(function* () {
      const seed = new Uint8Array(32).fill(9)
      const next = {
        publicKey: portableCrypto.ed25519PublicKey(seed),
        sign: (message: Uint8Array) => Effect.sync(() => portableCrypto.ed25519Sign(seed, message))
      }
      const { ended, records } = yield* meeting((signer) => ({
        ...signer,
        rotation: { ...signer.rotation!, keys: Effect.map(signer.rotation!.keys, ({ current }) => ({ current, next })) }
      }))
      assert.lengthOf(records, 1)
      assert.sameMembers(
        ended.map(({ _tag }) => _tag),
        ["Success", "Failure"]
      )
    })
  )

  it.effect("is not signed for by a signer that signs with another key than it names", () =>
    Effect.gen(function* () {
      const { checkpointer } = yield* open().pipe(
        Effect.updateService(Signer, (signer) => ({ ...signer, sign: () => Effect.succeed(new Uint8Array(64)) }))
      )
      assert.match(
        (yield* Effect.flip(checkpointer.now)).message,
        /a signature that its own public key does not verify/
      )
      assert.isNull(yield* latestCheckpoint(yield* Storage))
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("is refused where there is one key for ever, and where one may only read", () =>
    Effect.gen(function* () {
      const { rotate } = yield* openRotating
      assert.match(`${(yield* Effect.flip(rotate))._tag}`, /RotationRefused/)
      const context = yield* Layer.build(
        KeyRotation.layer({ readOnly: true }).pipe(
          Layer.provideMerge(Checkpointer.layer({ readOnly: true })),
          Layer.provideMerge(Chain.layer({ readOnly: true })),
          Layer.fresh
        )
      )
      assert.match((yield* Effect.flip(Context.get(context, KeyRotation).rotate)).message, /may only read/)
    }).pipe(onlyFirstKey, Effect.scoped, Effect.provide(world()))
  )
})

describe("a pack of a rotated chain", () => {
  const packOf = (when: "at the rotation" | "later") =>
    Effect.gen(function* () {
      yield* session(() => append(1, 4))
      const { fromVkey, toVkey } = yield* Effect.scoped(Effect.flatMap(openRotating, ({ rotate }) => rotate))
      if (when === "later") yield* session(() => append(5, 9))
      const chunks = yield* session(
        ({ packs }) =>
          Effect.flatMap(packs.export({ kind: "full" }), (pack) =>
            Effect.promise(async () => {
              const all: Array<Uint8Array> = []
              for await (const chunk of pack) all.push(chunk)
              return all
            })
          ),
        { readOnly: true }
      )
      const report = (...vkeys: ReadonlyArray<string>) =>
        Effect.promise(() => verifyPack(portableCrypto, chunks, { vkeys }))
      return { fromVkey, toVkey, report, text: chunks.map((chunk) => new TextDecoder().decode(chunk)).join("") }
    })

  it.effect(
    "is good with the new key and with both, and not enough with the old one; it hints at both and lists the rotation",
    () =>
      Effect.gen(function* () {
        const { fromVkey, report, text, toVkey } = yield* packOf("later")
        const withNew = yield* report(toVkey)
        assert.deepStrictEqual([withNew.exit, withNew.findings], [0, []])
        assert.include(withNew.not_checked.join(" "), "record 5 rotates the key from")
        assert.strictEqual((yield* report(fromVkey, toVkey)).exit, 0)
        const withOld = yield* report(fromVkey)
        assert.deepStrictEqual(
          [withOld.exit, withOld.findings.map(({ code }) => code)],
          [2, ["E_KEY_UNKNOWN", "E_KEY_UNKNOWN"]]
        )
        assert.deepStrictEqual(
          text.split("\n").filter((line) => line.startsWith("K ")),
          [`K ${fromVkey}`, `K ${toVkey}`]
        )
      }).pipe(Effect.provide(world()))
  )

  it.effect("whose checkpoint has both signatures is verified by either key; the new key alone closes the pack", () =>
    Effect.gen(function* () {
      const { fromVkey, report, toVkey } = yield* packOf("at the rotation")
      assert.strictEqual((yield* report(toVkey)).exit, 0)
      assert.strictEqual((yield* report(fromVkey, toVkey)).exit, 0)
      const withOld = yield* report(fromVkey)
      assert.deepStrictEqual([withOld.exit, withOld.findings.map(({ code }) => code)], [2, ["E_KEY_UNKNOWN"]])
    }).pipe(Effect.provide(world()))
  )
})

describe("a rotation that was cut short", () => {
  it.effect("behind its record is finished by the next process, which signs at once", () =>
    Effect.gen(function* () {
      yield* session(() => append(1, 3))
      yield* recorded
      const storage = yield* Storage
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { chain } = yield* openRotating
          yield* pass(2_000)
          const latest = (yield* latestCheckpoint(storage))!
          assert.deepStrictEqual(
            [
              latest.size,
              signersOf(
                latest.note,
                (yield* chain.keys).map(({ vkey }) => vkey)
              ).length
            ],
            [5, 2]
          )
        })
      )
      const { current, next } = yield* (yield* Signer).rotation!.keys
      const vkey = yield* session(({ chain }) => Effect.succeed(chain.vkey))
      assert.deepStrictEqual([next, vkey], [null, formatVkey(ORIGIN, current.publicKey)])
    }).pipe(Effect.provide(world()))
  )

  it.effect("is what the next call finishes; it begins no other", () =>
    Effect.gen(function* () {
      yield* recorded
      const { chain, rotate } = yield* openRotating
      yield* rotate
      assert.strictEqual((yield* chain.keys).length, 2)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.effect("gets no signature by the old key alone, while records are accepted, and says why", () =>
    Effect.gen(function* () {
      const { checkpointer } = yield* openRotating
      yield* append(1, 2)
      const { size } = yield* checkpointer.now
      const storage = yield* Storage
      const guarded = yield* (yield* Guard).read
      yield* storage.commit({
        records: [{ kind: "key.rotated", agentId: null, body: { from_key_id: "00000000", to_vkey: OTHER }, parts: [] }]
      })
      yield* append(4, 5)
      assert.match(
        (yield* Effect.flip(checkpointer.now)).message,
        /rotated to another signing key.*is not here.*Records are accepted, nothing is signed/
      )
      yield* pass(5 * CHECKPOINT_MS)
      assert.deepStrictEqual([(yield* latestCheckpoint(storage))!.size, yield* (yield* Guard).read], [size, guarded])
    }).pipe(onlyFirstKey, Effect.scoped, Effect.provide(world()))
  )

  it.effect(
    "is taken up by a process that still has the old key in memory, from what it shares with the one that rotated",
    () =>
      Effect.gen(function* () {
        const running = yield* open()
        const { fromVkey, toVkey } = yield* Effect.scoped(Effect.flatMap(openRotating, ({ rotate }) => rotate))
        yield* append(1, 2)
        assert.deepStrictEqual(signersOf((yield* running.checkpointer.now).note, [fromVkey, toVkey]), [toVkey])
      }).pipe(Effect.scoped, Effect.provide(world()))
  )
})

const OTHER = "flyball.example/test+13488691+BbIQ3w4MXFv1HfGEjZIT/Tn4BdYm0plQn4VRHGvo231z"

describe("opening a rotated chain is refused", () => {
  const refusal = (readOnly = false) =>
    Effect.map(
      Effect.flip(session(() => Effect.void, { origin: ORIGIN, readOnly })),
      (error) => `${error._tag}: ${error.message}`
    )

  it.effect("with the old key alone, when another place has finished it", () =>
    Effect.gen(function* () {
      const copy = yield* Effect.map(Signer, ({ origin, publicKey, sign }) => ({ origin, publicKey, sign }))
      yield* Effect.scoped(Effect.flatMap(openRotating, ({ rotate }) => rotate))
      assert.match(
        yield* refusal().pipe(Effect.provideService(Signer, copy)),
        /^KeyRetired: Record 1 of .*copy from before the rotation/
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("with the new key alone, while no checkpoint carries both signatures; who only reads is let in", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.void)
      yield* recorded
      const { next } = yield* (yield* Signer).rotation!.keys
      const onlyNew = Effect.provideService(Signer, { ...next!, origin: null })
      assert.match(
        yield* refusal().pipe(onlyNew),
        /^RotationUnfinished: Record 1 of .*must still sign, and is not here.*Bring back the data folder/
      )
      yield* session(() => Effect.void, { readOnly: true }).pipe(onlyNew)
      yield* session(() => Effect.void)
      yield* session(() => Effect.void).pipe(onlyNew)
    }).pipe(Effect.provide(world()))
  )
})

describe("a check of the chain", () => {
  const findings = (alter: (note: string, id: string) => string) =>
    Effect.gen(function* () {
      yield* session(() => append(1, 4))
      const { checkpoint, fromVkey } = yield* Effect.scoped(Effect.flatMap(openRotating, ({ rotate }) => rotate))
      yield* session(() => append(5, 9))
      const altered = replaceStorage((real) => ({
        get: (collection, id) =>
          Effect.map(real.get(collection, id), (document) =>
            document === null || collection !== "checkpoints"
              ? document
              : { ...document, body: { ...document.body, note: alter(String(document.body["note"]), id) } }
          ),
        list: (collection, page) =>
          Effect.map(real.list(collection, page), (all) =>
            collection !== "checkpoints"
              ? all
              : all.map((document) => ({
                  ...document,
                  body: { ...document.body, note: alter(String(document.body["note"]), document.id) }
                }))
          )
      }))
      const report = yield* altered(session(({ chain }) => chain.verify(), { readOnly: true }))
      return {
        checkpoint,
        fromVkey,
        found: report.findings.map(({ code, expected, found }) => `${code}: ${expected}, found ${found}`)
      }
    }).pipe(Effect.provide(world()))

  it.effect("accepts checkpoints of every key in its time", () =>
    Effect.map(
      findings((note) => note),
      ({ found }) => assert.deepStrictEqual(found, [])
    )
  )

  it.effect("finds a covering checkpoint without the old key's signature, or without the new one's", () =>
    Effect.gen(function* () {
      const without = (index: number) =>
        findings((note) => {
          const [text, lines] = note.split("\n\n") as [string, string]
          const kept = lines.trimEnd().split("\n")
          return kept.length < 2 ? note : `${text}\n\n${kept.filter((_, at) => at !== index).join("\n")}\n`
        })
      for (const index of [0, 1]) {
        const { found } = yield* without(index)
        assert.lengthOf(found, 1)
        assert.match(
          found[0]!,
          new RegExp(
            /^E_CHECKPOINT_SIG: the first checkpoint that covers the key rotation in /.source +
              /record 5, of 6 records, to be signed by [0-9a-f]{8} and [0-9a-f]{8}, found no /.source +
              /signature by the key [0-9a-f]{8}$/.source
          )
        )
      }
    })
  )

  it.effect("finds a later checkpoint without the signature of the key of its time", () =>
    Effect.gen(function* () {
      const { found } = yield* findings((note, id) =>
        id === "latest" ? note.replace(/\n\n.*\n$/s, "\n\n— flyball.example/test AAAAAAAA\n") : note
      )
      assert.match(found.join(), /E_CHECKPOINT_SIG: a checkpoint of \d+ records signed by the log's key/)
    })
  )
})
