/**
 * Everything that a recovery does on every store that can be put aside. Spec: design section 4; decision 0010 of core.
 */
import {
  Agents,
  Chain,
  checkRetired,
  Erasure,
  IngestKeys,
  Packs,
  layerOf,
  Replay,
  retiredChains,
  storedChain,
  systemHost,
  type StorageChoice,
  Tenant
} from "@flyball/core"
import { Storage, type StorageApi } from "@flyball/core/storage"
import { fromUtf8, portableCrypto, readRecord, verifyPack } from "@flyball/evidence"
import { Effect } from "effect"
import assert from "node:assert/strict"
import { boundedCases } from "./bounded-cases.ts"
import { KeptKeys, type KeyFault } from "./kept-keys.ts"
import { olderCopiesCases } from "./older-copies-cases.ts"
import {
  lived,
  ORIGIN,
  putBack,
  recovered,
  recoveredWith,
  type RecoverySite,
  SECOND,
  session,
  siteOf,
  THIRD,
  witness
} from "./recovery-world.ts"

/** One thing that a recovery does, as a value: wants an empty store of its own. */
export interface RecoveryCase {
  readonly name: string
  readonly run: (storage: StorageChoice) => Effect.Effect<void, unknown>
}

const recoveryCase = (name: string, check: (site: RecoverySite) => Effect.Effect<void, unknown>): RecoveryCase => ({
  name,
  run: (storage) => check(siteOf(storage))
})

const tagOf = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<string, never, R> =>
  Effect.match(effect, { onFailure: (error) => error._tag, onSuccess: () => "success" })

const packText = (pack: AsyncIterable<Uint8Array>): Effect.Effect<string> =>
  Effect.promise(async () => {
    const chunks: Array<Uint8Array> = []
    for await (const chunk of pack) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  })

/** Parts of record 0 by name, as text. */
const genesisParts = (storage: StorageApi) =>
  Effect.map(
    storage.parts([0]),
    (parts) => new Map(parts.map(({ bytes, name }) => [name, bytes === null ? null : fromUtf8(bytes)]))
  )

const faults: ReadonlyArray<KeyFault> = (["advance", "sign", "rename"] as const).flatMap((at) =>
  (["write lost", "answer lost"] as const).map((kind) => ({ at, kind }))
)

/** The cases. */
export const recoveryCases: ReadonlyArray<RecoveryCase> = [
  recoveryCase(
    "a recovery retires the chain and continues under another name, with all data that is not of the old chain",
    Effect.fnUntraced(function* (site) {
      const { agentId, key, keyId, revokedId, size } = yield* lived(site)
      const oldVkey = yield* session(
        site,
        Chain.use(({ vkey }) => Effect.succeed(vkey))
      )
      const before = yield* session(
        site,
        Effect.flatMap(Storage, (storage) => storage.get("agents", agentId))
      )
      putBack(site, 4)
      assert.equal(yield* tagOf(session(site, Effect.void)), "StoreBehindGuard")
      const { origin, previous, vkey } = yield* recovered(site)
      assert.match(origin, SECOND)
      assert.deepEqual([previous.origin, previous.signedSize, previous.storedSize], [ORIGIN, size + 4, size])
      assert.deepEqual([site.keys.origin, site.keys.signed?.origin, site.keys.signed?.size], [origin, origin, 1])

      yield* session(
        site,
        Effect.gen(function* () {
          const storage = yield* Storage
          // The digest of the agent's org unit is of one chain: a record says the new one.
          assert.deepEqual((yield* storage.head)?.seq, 1)
          const genesis = readRecord((yield* storage.record(0))!.bytes)
          assert.ok(genesis.ok)
          assert.deepEqual(genesis.record.body, { hash: "sha256-rfc6962", origin, vkeys: [vkey] })
          const parts = yield* genesisParts(storage)
          assert.equal(parts.get("reason"), '"the disk died"')
          const reported = JSON.parse(parts.get("previous")!) as {
            readonly checkpoint: string
            readonly stored_root: string
          }
          assert.deepEqual(
            [reported.checkpoint.split("\n").slice(0, 2), reported.stored_root],
            [[ORIGIN, String(size)], `sha256:${previous.storedRootHex}`]
          )

          const after = (yield* storage.get("agents", agentId))!
          const orgUnitDigest = after.body["orgUnitDigest"]
          assert.notEqual(orgUnitDigest, before!.body["orgUnitDigest"])
          assert.deepEqual(after, {
            ...before!,
            version: before!.version + 1,
            body: { ...before!.body, orgUnitDigest }
          })
          assert.equal((yield* Agents.use((agents) => agents.find("courier")))?.id, agentId)
          assert.equal((yield* Tenant).tenantId, "acme")
          assert.equal((yield* IngestKeys.use((keys) => keys.authenticate(key))).writer.id, keyId)
          const [, revoked] = yield* IngestKeys.use((keys) => keys.list)
          assert.equal(revoked?.id, revokedId)
          assert.notEqual(revoked?.revoked_at, null)
          assert.deepEqual(yield* storage.list("packs"), [])
          assert.deepEqual(
            (yield* storage.list("checkpoints")).map(({ id }) => id),
            ["0000000000000001", "latest"]
          )

          const { receipts } = yield* witness(agentId, 2)
          assert.deepEqual(
            receipts.map(({ duplicate, seq }) => [duplicate, seq]),
            [
              [false, 2],
              [false, 3]
            ]
          )
          const [retired] = yield* retiredChains
          assert.deepEqual([retired?.origin, retired?.size], [ORIGIN, size])
          assert.deepEqual(yield* checkRetired, [{ origin: ORIGIN, checked: size, findings: [] }])
          const replay = yield* Replay.use(({ check }) => check)
          assert.deepEqual([replay.differences, replay.records], [[], size + 4])
          const erased = (name: string) =>
            tagOf(Erasure.use((erasure) => erasure.erase({ seq: 0, name, reason: "subject_request" }, systemHost)))
          assert.deepEqual([yield* erased("previous"), yield* erased("reason")], ["PartNotFound", "success"])
          assert.deepEqual(
            [...(yield* genesisParts(storage)).values()].map((part) => part === null),
            [false, true]
          )
          assert.deepEqual((yield* Chain.use((chain) => chain.verify())).findings, [])
        })
      )
      assert.notEqual(vkey, oldVkey)
    })
  ),

  recoveryCase(
    "packs show what a chain records of the previous one, for any disclosure; the old chain's packs still " +
      "verify under its own key",
    Effect.fnUntraced(function* (site) {
      const { size } = yield* lived(site)
      const oldVkey = yield* session(
        site,
        Chain.use(({ vkey }) => Effect.succeed(vkey))
      )
      putBack(site, 1)
      const { vkey } = yield* recovered(site)
      const [retired, ...packs] = yield* session(
        site,
        Effect.gen(function* () {
          const exported = (disclose: "none" | "all") =>
            Packs.use((packs) => Effect.flatMap(packs.export({ kind: "full", disclose }), packText))
          return [(yield* retiredChains)[0]!, yield* exported("none"), yield* exported("all")] as const
        })
      )
      assert.deepEqual(
        packs.map((pack) => [...pack.matchAll(/^D (\d+ \w+)/gm)].map((line) => line[1])),
        [["0 previous"], ["0 previous", "0 reason"]]
      )
      const old = yield* session(
        { ...site, storage: retired.storage },
        Packs.use((packs) => Effect.flatMap(packs.export({ kind: "full", disclose: "all" }), packText)),
        { readOnly: true, retired: true }
      )
      for (const [pack, pinned, records] of [
        [packs[0]!, vkey, 1],
        [packs[1]!, vkey, 1],
        [old, oldVkey, size]
      ] as const) {
        const report = yield* Effect.promise(() => verifyPack(portableCrypto, [Buffer.from(pack)], { vkeys: [pinned] }))
        assert.deepEqual([report.exit, report.counts.records, report.findings], [0, records, []])
      }
    })
  ),

  recoveryCase(
    "packs of a retired chain can be made after its key was rotated, and verify only with both keys",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      const oldVkey = yield* session(
        site,
        Chain.use(({ vkey }) => Effect.succeed(vkey))
      )
      putBack(site, 1)
      const { origin } = yield* recovered(site)
      const [retired] = yield* session(site, retiredChains)
      const rotated = { storage: retired!.storage, keys: new KeptKeys(origin, 2) }
      const [pack, closing] = yield* session(
        rotated,
        Effect.gen(function* () {
          return [
            yield* Packs.use((packs) => Effect.flatMap(packs.export({ kind: "full" }), packText)),
            (yield* Chain).vkey
          ] as const
        }),
        { readOnly: true, retired: true }
      )
      const verified = (...vkeys: ReadonlyArray<string>) =>
        Effect.promise(() => verifyPack(portableCrypto, [Buffer.from(pack)], { vkeys }))
      assert.deepEqual((({ exit, findings }) => [exit, findings.map(({ code }) => code)])(yield* verified(oldVkey)), [
        2,
        ["E_KEY_UNKNOWN"]
      ])
      assert.deepEqual((({ exit, findings }) => [exit, findings])(yield* verified(oldVkey, closing)), [0, []])
    })
  ),

  recoveryCase(
    "a retired chain is read-only",
    Effect.fnUntraced(function* (site) {
      const { agentId } = yield* lived(site)
      putBack(site, 1)
      yield* recovered(site)
      const [retired] = yield* session(site, retiredChains)
      const open = { ...site, storage: retired!.storage }
      assert.equal(
        yield* tagOf(session(open, witness(agentId, 1), { readOnly: true, retired: true })),
        "StorageUnavailable"
      )
      assert.equal(yield* tagOf(recovered(open)), "OriginRefused")
      assert.equal(yield* tagOf(session(open, Effect.void, { readOnly: true })), "OriginRefused")
    })
  ),

  recoveryCase(
    "a recovered chain can be recovered again, and each chain names the previous one",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      putBack(site, 1)
      const second = yield* recovered(site)
      yield* session(
        site,
        Agents.use((agents) => agents.register({ name: "second", org_unit: "ops" }, systemHost))
      )
      putBack(site, 1)
      const { origin, previous } = yield* recovered(site)
      assert.match(origin, THIRD)
      assert.equal(previous.origin, second.origin)
      yield* session(
        site,
        Effect.gen(function* () {
          assert.deepEqual(
            (yield* checkRetired).map(({ findings, origin }) => [origin, findings]),
            [
              [ORIGIN, []],
              [second.origin, []]
            ]
          )
          assert.deepEqual((yield* Replay.use(({ check }) => check)).differences, [])
        })
      )
    })
  ),

  ...faults.map((fault) =>
    recoveryCase(
      `a recovery that stopped at ${fault.at} (${fault.kind}) is finished by the next one`,
      Effect.fnUntraced(function* (site) {
        const { agentId } = yield* lived(site)
        putBack(site, 2)
        site.keys.fault = fault
        assert.equal(yield* tagOf(recovered(site)), "StorageUnavailable")
        assert.equal(site.keys.fault, null)
        const begun = yield* Effect.provide(storedChain, layerOf(site.storage))
        assert.match(begun!.origin, SECOND)
        const isDone = fault.at === "rename" && fault.kind === "answer lost"
        assert.equal(yield* tagOf(session(site, Effect.void)), isDone ? "success" : "RecoveryUnfinished")
        assert.equal(yield* tagOf(recovered(site)), isDone ? "NothingToRecover" : "success")
        assert.deepEqual(
          [site.keys.origin, site.keys.signed?.origin],
          [begun!.origin, begun!.origin],
          "the name was drawn once"
        )
        yield* session(
          site,
          Effect.gen(function* () {
            assert.equal((yield* retiredChains).length, 1)
            yield* witness(agentId, 1)
            assert.deepEqual((yield* Replay.use(({ check }) => check)).differences, [])
          })
        )
      })
    )
  ),

  recoveryCase(
    "a recovery continues only with the guard that the new chain names",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      putBack(site, 2)
      const signed = site.keys.signed!
      site.keys.fault = { at: "advance", kind: "write lost" }
      yield* Effect.flip(recovered(site))
      site.keys.signed = { ...signed, size: signed.size + 1 }
      assert.equal(yield* tagOf(recovered(site)), "StorageCorrupt")
      assert.deepEqual([site.keys.origin, site.keys.signed.size], [ORIGIN, signed.size + 1])
      site.keys.signed = signed
      assert.equal(yield* tagOf(recovered(site, "flyball.test/other")), "OriginRefused")
      assert.equal((yield* recovered(site)).previous.signedSize, signed.size)
    })
  ),

  recoveryCase(
    "a store whose records differ from the signed ones is retired too",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      site.keys.signed = { ...site.keys.signed!, rootHex: "5a".repeat(32) }
      assert.equal(yield* tagOf(session(site, Effect.void)), "GuardDisagrees")
      const { previous } = yield* recovered(site)
      assert.equal(previous.signedRootHex, "5a".repeat(32))
      assert.notEqual(previous.storedRootHex, previous.signedRootHex)
    })
  ),

  recoveryCase(
    "a recovery without a guard records in the new chain that the signed size is unknown",
    Effect.fnUntraced(function* (site) {
      const { size } = yield* lived(site)
      site.keys.signed = null
      assert.equal(yield* tagOf(session(site, Effect.void)), "GuardBehindStore")
      const { previous } = yield* recovered(site)
      assert.deepEqual([previous.signedSize, previous.signedRootHex, previous.storedSize], [null, null, size])
      yield* session(site, Effect.void)
    })
  ),

  recoveryCase(
    "an empty store is recovered too",
    Effect.fnUntraced(function* (site) {
      site.keys.signed = { origin: ORIGIN, size: 7, rootHex: "5a".repeat(32) }
      assert.equal(yield* tagOf(session(site, Effect.void)), "StoreBehindGuard")
      const { previous } = yield* recovered(site)
      assert.deepEqual([previous.signedSize, previous.storedSize, previous.checkpoint], [7, 0, null])
      yield* session(
        site,
        Effect.gen(function* () {
          assert.deepEqual([yield* retiredChains, yield* checkRetired], [[], []])
        })
      )
    })
  ),

  recoveryCase(
    "a signer without an origin of its own continues with the same key",
    Effect.fnUntraced(function* ({ storage }) {
      const site = { storage, keys: new KeptKeys(null) }
      yield* lived(site)
      putBack(site, 1)
      site.keys.fault = { at: "advance", kind: "write lost" }
      assert.equal(yield* tagOf(recovered(site)), "StorageUnavailable")
      assert.equal(yield* tagOf(session(site, Effect.void)), "RecoveryUnfinished")
      assert.match((yield* recovered(site)).origin, SECOND)
      yield* session(site, Effect.void)
    })
  ),

  recoveryCase(
    "a key that was rotated in after the copy is accepted, because the guard is ahead",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      putBack(site, 1)
      const rotated = { storage: site.storage, keys: new KeptKeys(ORIGIN, 2) }
      rotated.keys.signed = site.keys.signed
      assert.equal(yield* tagOf(session(rotated, Effect.void)), "StoreBehindGuard")
      const { vkey } = yield* recovered(rotated)
      assert.equal(
        yield* session(
          rotated,
          Chain.use((chain) => Effect.succeed(chain.vkey))
        ),
        vkey
      )
    })
  ),

  recoveryCase(
    "no chain is retired when a start would succeed, or when keys, guard and store do not belong together",
    Effect.fnUntraced(function* (site) {
      assert.equal(yield* tagOf(recovered(site)), "NothingToRecover")
      yield* lived(site)
      assert.equal(yield* tagOf(recovered(site)), "NothingToRecover")
      const other = (change: (keys: KeptKeys) => void, origin: string | null = ORIGIN, seed = 1) => {
        const keys = new KeptKeys(origin, seed)
        keys.signed = site.keys.signed
        change(keys)
        return tagOf(recovered({ storage: site.storage, keys }))
      }
      assert.equal(yield* other(() => undefined, "flyball.test/other"), "OriginRefused")
      assert.equal(yield* other((keys) => void (keys.signed = null), ORIGIN, 2), "KeyRefused")
      assert.equal(
        yield* other((keys) => void (keys.signed = { ...keys.signed!, rootHex: "5a".repeat(32) }), ORIGIN, 2),
        "KeyRefused"
      )
      assert.equal(
        yield* other((keys) => void (keys.signed = { ...keys.signed!, origin: "flyball.test/other", size: 99 })),
        "GuardRefused"
      )
      assert.equal(yield* other((keys) => void (keys.signed = { ...keys.signed!, size: 1 })), "GuardBehindStore")
      putBack(site, 1)
      const refusal = (reason: string, origin?: string) => tagOf(recoveredWith(site, reason, origin))
      assert.equal(yield* refusal("  "), "ReasonInvalid")
      assert.equal(yield* refusal("é".repeat(2_001)), "ReasonInvalid")
      assert.equal(yield* refusal("why", "two words"), "OriginInvalid")
      assert.equal(yield* refusal("why", ORIGIN), "OriginTaken")
      assert.equal(yield* tagOf(session(site, Effect.void)), "StoreBehindGuard")
      assert.equal((yield* recoveredWith(site, "é".repeat(2_000), "flyball.test/chosen")).origin, "flyball.test/chosen")
      assert.equal((yield* session(site, retiredChains)).length, 1)
    })
  ),

  ...olderCopiesCases,
  ...boundedCases
]
