import { assert, describe, it } from "@effect/vitest"
import { AgentNotFound, type IdentityIn, type IdentityVerdict } from "@flyball/contract"
import {
  canonicalBytes,
  fromHex,
  fromUtf8,
  type JsonObject,
  portableCrypto,
  readRecord,
  toBase64,
  toHex,
  utf8
} from "@flyball/evidence"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../agents/service.ts"
import { Identities } from "./service.ts"
import { TierEvidence } from "../agents/tier-evidence.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { unitScope } from "../../foundation/scope.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { systemHost as writer, type Writer } from "../../foundation/writer.ts"
import { TrustStoreUnavailable } from "../../foundation/trust-store-unavailable.ts"
import { TrustStore, type TrustStoreApi } from "./trust-store.ts"
import { a2aCard, cardOf, detachedCard, ed25519Key } from "./testing/cards.ts"

const acme = ed25519Key("acme")
const revoked = ed25519Key("old", 8, { revoked: true })
const trust = { keys: Effect.succeed([acme.trusted, revoked.trusted]) }
const evidence = Layer.succeed(TierEvidence, {
  publishedEnvelope: () => Effect.succeed(true)
})
const worldOf = (store: TrustStoreApi) =>
  Layer.fresh(governorWorld()).pipe(Layer.provide(Layer.succeed(TrustStore, store)), Layer.provide(evidence))
const world = worldOf(trust)

const replayed = Effect.map(
  Replay.use(({ check }) => check),
  ({ differences }) => differences
)
const last = Effect.flatMap(Storage, (storage) =>
  Effect.gen(function* () {
    const [record] = yield* storage.records({ order: "desc", limit: 1 })
    const read = readRecord(record!.bytes)
    const parts = yield* storage.parts([record!.seq])
    return {
      kind: record!.kind,
      hash: `sha256:${toHex(record!.hash)}`,
      seq: record!.seq,
      text: fromUtf8(record!.bytes)!,
      body: read.ok ? read.record.body : assert.fail("unreadable"),
      parts: Object.fromEntries(parts.map(({ bytes, name }) => [name, bytes === null ? null : fromUtf8(bytes)]))
    }
  })
)
const attach = (id: string, input: IdentityIn, by: Writer = writer) =>
  Identities.use((identities) => identities.attach(id, input, by))
const refusalOf = (id: string, input: IdentityIn, by: Writer = writer) =>
  Effect.map(Effect.flip(attach(id, input, by)), ({ _tag }) => _tag)
const key: Writer = { id: "key_00000000000000000000000001" }
const courier = utf8(JSON.stringify(cardOf("courier")))
const signed = { signed_card: detachedCard(courier, acme) }
const digest = toHex(portableCrypto.sha256(courier))
const spiffe = { declared_source: "spiffe", declared_ref: "spiffe://example.org/courier" }

describe("attaching an identity", () => {
  it.effect("verifies a signed card, records the verdict, and shows it on the agent", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_795_230_000_123)
      const { id } = yield* registered("courier")
      const verdict = yield* attach(id, signed)
      const record = yield* last
      const identity = {
        identity_verified: true,
        identity_source: "signed_card",
        identity_ref: `acme#sha256:${digest}`
      }
      assert.deepStrictEqual(verdict, {
        agent_id: id,
        ...identity,
        standing: identity,
        verdict: "verified",
        reason_code: "ok",
        card_digest: `sha256:${digest}`,
        key_id: "acme",
        alg: "EdDSA",
        checked_at: "2026-11-21T03:00:00.123Z",
        seq: record.seq,
        record_hash: record.hash
      })
      assert.strictEqual(record.kind, "agent.identity_attested")
      assert.deepStrictEqual(record.body, {
        agent_id: id,
        alg: "EdDSA",
        card_digest: digest,
        checked_at: "2026-11-21T03:00:00.123Z",
        key_id: "acme",
        reason_code: "ok",
        source: "signed_card",
        verdict: "verified",
        writer: "system:host"
      })
      assert.deepStrictEqual(record.parts, { identity: `{"identity_ref":"acme#sha256:${digest}"}` })
      assert.deepInclude(yield* Agents.use((agents) => agents.get(id)), { ...identity, version: 2, status: "draft" })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(world))
  )

  it.effect("takes an A2A card with its own signatures", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const card = a2aCard(cardOf("courier"), acme)
      assert.deepInclude(yield* attach(id, { signed_card: { card: toBase64(card) } }), {
        verdict: "verified",
        identity_source: "a2a_signed_card",
        card_digest: `sha256:${toHex(portableCrypto.sha256(card))}`
      })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("records a declaration, and treats it as unverified", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      assert.deepInclude(yield* attach(id, spiffe), {
        verdict: "declared",
        reason_code: "ok",
        identity_verified: false,
        identity_source: "spiffe",
        identity_ref: spiffe.declared_ref,
        card_digest: null,
        key_id: null,
        alg: null
      })
      assert.deepInclude((yield* last).body, { source: "spiffe", verdict: "declared" })
      assert.notInclude((yield* last).text, "example.org")
      assert.deepInclude(yield* attach(id, { declared_source: "Ada's directory", declared_ref: "7" }), {
        identity_source: "Ada's directory",
        identity_verified: false
      })
      assert.deepInclude(yield* last, {
        parts: { identity: '{"identity_ref":"7","identity_source":"Ada\'s directory"}' }
      })
      assert.notInclude((yield* last).text, "Ada")
      assert.deepInclude((yield* last).body, { source: "other" })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("takes a card as a JSON object: its RFC 8785 bytes are verified", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      // The order of the members and a number's spelling are not part of what is signed.
      const card: JsonObject = { version: "1.0.0", name: "courier", weight: 1e2, address: "Öresundsgata" }
      const bytes = canonicalBytes(card)
      const { key_id, signature } = detachedCard(bytes, acme)
      const verified = yield* attach(id, { signed_card: { card, key_id, signature } })
      assert.deepInclude(verified, {
        verdict: "verified",
        card_digest: `sha256:${toHex(portableCrypto.sha256(bytes))}`
      })
      const asBytes = yield* attach(id, { signed_card: { card: toBase64(bytes), key_id, signature } })
      assert.strictEqual(asBytes.card_digest, verified.card_digest)
      const a2a = JSON.parse(fromUtf8(a2aCard(cardOf("courier"), acme))!) as JsonObject
      assert.deepInclude(yield* attach(id, { signed_card: { card: a2a } }), {
        verdict: "verified",
        identity_source: "a2a_signed_card"
      })
      const other = { ...card, name: "courier " }
      const changed = yield* attach(id, { signed_card: { card: other, key_id, signature } })
      assert.deepInclude(changed, { verdict: "rejected", reason_code: "signature_invalid" })
      const empty = yield* attach(id, { signed_card: { card: {}, key_id, signature } })
      assert.deepInclude(empty, { verdict: "rejected", reason_code: "card_malformed" })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("records a rejected card too, which leaves the identity and the agent's version as they were", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* attach(id, signed)
      const before = yield* Agents.use((agents) => agents.get(id))
      const other = utf8(JSON.stringify(cardOf("refunds")))
      const rows: ReadonlyArray<readonly [IdentityIn, IdentityVerdict["reason_code"]]> = [
        [{ signed_card: detachedCard(courier, revoked) }, "key_revoked"],
        [{ signed_card: detachedCard(other, acme) }, "name_mismatch"],
        [{ signed_card: { card: toBase64(courier) } }, "card_malformed"],
        [{ signed_card: { ...signed.signed_card, key_id: "ann@example.org" } }, "key_unknown"],
        [{ signed_card: { ...signed.signed_card, signature: "AAAA" } }, "signature_invalid"]
      ]
      for (const [input, reason] of rows) {
        assert.deepInclude(yield* attach(id, input), {
          verdict: "rejected",
          reason_code: reason,
          identity_verified: false,
          identity_source: null,
          identity_ref: null,
          standing: { identity_verified: true, identity_source: "signed_card", identity_ref: before.identity_ref }
        })
        assert.deepInclude((yield* last).body, {
          verdict: "rejected",
          reason_code: reason,
          source: reason === "card_malformed" ? "a2a_signed_card" : "signed_card"
        })
        // What a card calls a key that is none of ours was written by its sender.
        assert.notInclude((yield* last).text, "example.org")
        assert.deepStrictEqual(
          (yield* last).parts,
          reason === "key_unknown" ? { claim: '{"key_id":"ann@example.org"}' } : {}
        )
      }
      assert.deepStrictEqual(yield* Agents.use((agents) => agents.get(id)), before)
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("goes by the newest verdict that was not rejected", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* attach(id, spiffe)
      assert.deepInclude(yield* attach(id, signed), { identity_verified: true, identity_source: "signed_card" })
      const other = utf8(JSON.stringify({ ...cardOf("courier"), version: "2.0.0" }))
      const newer = yield* attach(id, { signed_card: detachedCard(other, acme) })
      assert.strictEqual(newer.identity_ref, `acme#sha256:${toHex(portableCrypto.sha256(other))}`)
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("refuses a declaration over a verified identity, and records nothing of it", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* attach(id, signed)
      const before = yield* last
      assert.strictEqual(yield* refusalOf(id, spiffe), "IdentityAlreadyVerified")
      assert.strictEqual(yield* refusalOf(id, { ...spiffe, withdraw_verified: false }), "IdentityAlreadyVerified")
      assert.strictEqual(yield* refusalOf(id, spiffe, key), "IdentityAlreadyVerified")
      assert.strictEqual((yield* last).seq, before.seq)
      assert.isTrue((yield* Agents.use((agents) => agents.get(id))).identity_verified)
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("lets a person withdraw a verified identity for a declared one, and no key", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const withdrawal = { ...spiffe, withdraw_verified: true }
      yield* attach(id, signed)
      assert.strictEqual(yield* refusalOf(id, withdrawal, key), "KeyNotAllowed")
      const declared = { identity_verified: false, identity_source: "spiffe", identity_ref: spiffe.declared_ref }
      assert.deepInclude(yield* attach(id, withdrawal), { verdict: "declared", ...declared, standing: declared })
      assert.deepInclude(yield* Agents.use((agents) => agents.get(id)), declared)
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("emits agent.tier_lowered once when an active agent at L3 loses its verified identity", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* attach(id, signed)
      yield* agents.update(id, { autonomy_tier: "L3" }, writer)
      yield* agents.activate(id, writer)
      assert.deepInclude(yield* agents.get(id), { autonomy_tier: "L3", effective_tier: "L3" })
      for (const declared_ref of ["first", "second"]) {
        yield* attach(id, { declared_source: "spiffe", declared_ref, withdraw_verified: true })
      }
      assert.deepInclude(yield* agents.get(id), { status: "active", autonomy_tier: "L3", effective_tier: "L2" })
      const events = yield* Storage.use(({ outbox }) => outbox.events({ limit: 1_000 }))
      assert.deepStrictEqual(
        events.flatMap(({ data, type }) => (type === "agent.tier_lowered" ? [data["effective_tier"]] : [])),
        ["L2"]
      )
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("takes an identity from an ingest key only while its agent is in draft", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      assert.strictEqual((yield* attach(id, spiffe, key)).verdict, "declared")
      assert.strictEqual((yield* attach(id, signed, key)).verdict, "verified")
      yield* agents.activate(id, writer)
      const before = yield* last
      const attempts = [signed, { signed_card: detachedCard(courier, revoked) }, spiffe]
      for (const input of attempts) assert.strictEqual(yield* refusalOf(id, input, key), "KeyNotAllowed")
      yield* agents.suspend(id, {}, writer)
      assert.strictEqual(yield* refusalOf(id, signed, key), "KeyNotAllowed")
      assert.strictEqual((yield* last).seq, before.seq + 1)
      assert.strictEqual((yield* attach(id, signed)).verdict, "verified")
      yield* agents.decommission(id, writer)
      assert.strictEqual(yield* refusalOf(id, signed, key), "KeyNotAllowed")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("judges an ingest key by the status at its commit: an agent activated meanwhile takes nothing of it", () =>
    Effect.gen(function* () {
      const requested = yield* Deferred.make<void>()
      const answered = yield* Deferred.make<void>()
      const keys = Effect.as(Effect.andThen(Deferred.succeed(requested, undefined), Deferred.await(answered)), [
        acme.trusted
      ])
      yield* Effect.gen(function* () {
        const { id } = yield* registered("courier")
        const attaching = yield* Effect.forkChild(Effect.flip(attach(id, signed, key)))
        yield* Deferred.await(requested)
        yield* Agents.use((agents) => agents.activate(id, writer))
        yield* Deferred.succeed(answered, undefined)
        assert.strictEqual((yield* Fiber.join(attaching))._tag, "KeyNotAllowed")
      }).pipe(Effect.provide(worldOf({ keys })))
    })
  )

  it.effect("opens tier L3, which a declaration and a rejected card do not", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { id } = yield* registered("courier")
      yield* agents.update(id, { autonomy_tier: "L3" }, writer)
      for (const input of [spiffe, { signed_card: detachedCard(courier, revoked) }]) {
        yield* attach(id, input)
        assert.deepInclude(yield* Effect.flip(agents.activate(id, writer)), {
          _tag: "TierGateUnmet",
          missing: ["verified_identity"]
        })
      }
      yield* attach(id, signed)
      assert.strictEqual((yield* agents.activate(id, writer)).status, "active")
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect(
    "is refused, without a record, for what is no card and no declaration, at an agent's end, and outside the org unit",
    () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const { id } = yield* registered("courier")
        const size = Effect.map(
          Storage.use(({ head }) => head),
          (head) => head!.seq
        )
        const before = yield* size
        const { card, signature } = signed.signed_card
        const rows: ReadonlyArray<readonly [IdentityIn, string, string]> = [
          [{}, "missing", "signed_card"],
          [{ signed_card: null, declared_ref: null }, "missing", "signed_card"],
          [{ ...signed, ...spiffe }, "value_error", "signed_card"],
          [{ ...signed, declared_ref: "x" }, "value_error", "signed_card"],
          [{ ...signed, withdraw_verified: true }, "value_error", "withdraw_verified"],
          [{ withdraw_verified: true }, "missing", "signed_card"],
          [{ declared_source: "spiffe" }, "missing", "declared_ref"],
          [{ declared_ref: "x" }, "missing", "declared_source"],
          [{ declared_source: "signed_card", declared_ref: "x" }, "value_error", "declared_source"],
          [{ signed_card: { card, signature } }, "missing", "signed_card.key_id"],
          [{ signed_card: { card, key_id: "acme" } }, "missing", "signed_card.signature"],
          [
            { signed_card: { card, signature, key_id: "acme", public_key: toBase64(acme.trusted.publicKey) } },
            "value_error",
            "signed_card.public_key"
          ],
          // A key as a PEM file wraps it is none of the store's keys, though it holds one.
          [
            {
              signed_card: {
                card,
                signature,
                public_key: toBase64(
                  new Uint8Array([...fromHex("302a300506032b6570032100")!, ...acme.trusted.publicKey])
                )
              }
            },
            "value_error",
            "signed_card.public_key"
          ]
        ]
        for (const [input, type, loc] of rows) {
          const refusal = yield* Effect.flip(attach(id, input))
          const detail = refusal._tag === "InvalidInput" ? refusal.detail[0]! : assert.fail(refusal._tag)
          assert.deepStrictEqual([detail.type, detail.loc.join(".")], [type, `body.${loc}`])
        }
        assert.deepStrictEqual(
          yield* Effect.flip((yield* Identities).attach(id, signed, writer, unitScope("sales"))),
          new AgentNotFound({ agentId: id })
        )
        assert.strictEqual((yield* Effect.flip(attach("nobody", signed)))._tag, "AgentNotFound")
        assert.strictEqual(yield* size, before)
        yield* agents.decommission(id, writer)
        assert.deepInclude(yield* Effect.flip(attach(id, signed)), {
          _tag: "InvalidTransition",
          act: "attach-identity"
        })
      }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("records nothing while the trust store cannot be read, and knows no key without one", () =>
    Effect.gen(function* () {
      const broken = worldOf({ keys: Effect.fail(new TrustStoreUnavailable({ reason: "the disk is gone" })) })
      const [tag, records] = yield* Effect.gen(function* () {
        const { id } = yield* registered("courier")
        const refusal = yield* Effect.flip(attach(id, signed))
        yield* attach(id, spiffe)
        return [
          refusal._tag,
          yield* Storage.use((storage) => storage.records({ kinds: ["agent.identity_attested"], limit: 10 }))
        ] as const
      }).pipe(Effect.provide(broken))
      assert.deepStrictEqual([tag, records.length], ["TrustStoreUnavailable", 1])
      const { id } = yield* registered("courier")
      assert.deepInclude(yield* attach(id, signed), {
        verdict: "rejected",
        reason_code: "key_unknown",
        identity_verified: false
      })
    }).pipe(Effect.provide(Layer.fresh(governorWorld())))
  )
})

describe("a trust store that does not answer", () => {
  it.effect("does not prevent suspending the agent", () =>
    Effect.gen(function* () {
      const requested = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const { id } = yield* registered("courier")
        yield* Agents.use((agents) => agents.activate(id, writer))
        const waiting = yield* Effect.forkChild(attach(id, signed))
        yield* Deferred.await(requested)
        const suspending = yield* Effect.forkChild(
          Agents.use((agents) => agents.suspend(id, { reason: "it pays twice" }, writer))
        )
        yield* Effect.repeat(Effect.yieldNow, { times: 100 })
        assert.isDefined(suspending.pollUnsafe(), "suspending still waits")
        yield* Fiber.interrupt(waiting)
        assert.strictEqual((yield* Fiber.join(suspending)).status, "suspended")
      }).pipe(Effect.provide(worldOf({ keys: Effect.andThen(Deferred.succeed(requested, undefined), Effect.never) })))
    })
  )
})

describe("erasing an agent's identity", () => {
  const erase = (seq: number) =>
    Erasure.use((erasure) =>
      erasure.erase({ seq, name: "identity", reason: "subject_request" }, { id: "usr_00000000000000000000000001" })
    )

  it.effect("takes reference and own words from the agent, and replay agrees", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* attach(id, { declared_source: "Ada's directory", declared_ref: "ada" })
      yield* erase((yield* last).seq)
      assert.deepInclude(yield* Agents.use((agents) => agents.get(id)), {
        identity_source: "other",
        identity_ref: null,
        identity_verified: false,
        name: "courier"
      })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("leaves standing that a key vouched for it", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* attach(id, signed)
      const { seq } = yield* last
      // A rejected card afterwards tells nothing again.
      yield* attach(id, { signed_card: detachedCard(courier, ed25519Key("stranger", 9)) })
      yield* erase(seq)
      assert.deepInclude(yield* Agents.use((agents) => agents.get(id)), {
        identity_source: "signed_card",
        identity_ref: null,
        identity_verified: true
      })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )

  it.effect("keeps what a later record replaced", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* attach(id, spiffe)
      const { seq } = yield* last
      yield* attach(id, signed)
      yield* erase(seq)
      assert.deepInclude(yield* Agents.use((agents) => agents.get(id)), {
        identity_source: "signed_card",
        identity_ref: `acme#sha256:${digest}`,
        identity_verified: true
      })
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(Layer.fresh(world)))
  )
})
