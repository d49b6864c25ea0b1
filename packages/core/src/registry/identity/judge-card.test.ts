import { assert, describe, it } from "@effect/vitest"
import { canonicalBytes, portableCrypto, toBase64, utf8 } from "@flyball/evidence"
import { createHmac } from "node:crypto"
import { Effect } from "effect"
import { vi } from "vitest"
import { judgeCard } from "./judge-card.ts"
import { fromBase64url, toBase64url } from "@flyball/rules"
import type { KeyChoice, TrustedKey } from "@flyball/rules"
import { a2aCard, type Bent, cardOf, ed25519Key, es256Key, signatureOf, type TestKey } from "./testing/cards.ts"

const ed = ed25519Key("acme")
const es = es256Key("corp-2026")
const card = cardOf("courier")
const now = 1_795_230_000_000

const judge = (bytes: Uint8Array, keys: ReadonlyArray<TrustedKey> = [ed.trusted, es.trusted], agentName = "courier") =>
  judgeCard({ card: bytes, detached: null }, { crypto: portableCrypto, keys, agentName, nowMs: now })
const detached = (
  bytes: Uint8Array,
  signature: Uint8Array,
  key: KeyChoice = { keyId: "acme" },
  keys: ReadonlyArray<TrustedKey> = [ed.trusted, es.trusted]
) =>
  Effect.map(
    judgeCard(
      { card: bytes, detached: { signature, key } },
      { crypto: portableCrypto, keys, agentName: "courier", nowMs: now }
    ),
    ({ reason }) => reason
  )
const withSignatures = (...signatures: ReadonlyArray<unknown>): Uint8Array =>
  utf8(JSON.stringify({ ...card, signatures }))
const reasonOf = (bytes: Uint8Array, keys?: ReadonlyArray<TrustedKey>) =>
  Effect.map(judge(bytes, keys), ({ reason }) => reason)
const bent = (key: TestKey, more: Bent) => reasonOf(withSignatures(signatureOf(card, key, more)))

describe("an A2A card", () => {
  it.effect("is verified by either algorithm, whatever its white space and order", () =>
    Effect.gen(function* () {
      for (const key of [ed, es]) {
        const { keyId } = key.trusted
        assert.deepStrictEqual(yield* judge(a2aCard(card, key)), {
          verdict: "verified",
          reason: "ok",
          alg: key.trusted.alg,
          keyId,
          claimedKeyId: null
        })
        const turned = {
          signatures: [signatureOf(card, key)],
          ...Object.fromEntries(Object.entries(card).toReversed())
        }
        assert.strictEqual(yield* reasonOf(utf8(JSON.stringify(turned, null, 2))), "ok")
        // Defaults that are not signed may be there or not.
        assert.strictEqual(yield* reasonOf(utf8(JSON.stringify({ ...turned, securitySchemes: {} }))), "ok")
      }
    })
  )

  it.effect("may call its key by the thumbprint, and its algorithm by its new name", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        (yield* judge(withSignatures(signatureOf(card, ed, { header: { kid: "thumb-acme" } })))).keyId,
        "acme"
      )
      assert.strictEqual(yield* bent(ed, { header: { alg: "Ed25519" } }), "ok")
    })
  )

  it.effect("is rejected by an algorithm that is not taken, or not the key's", () =>
    Effect.gen(function* () {
      for (const alg of ["none", "None", "", "HS256", "RS256", "ES384", "ES256K", "eddsa", "Ed448"])
        assert.strictEqual(yield* bent(ed, { header: { alg } }), "alg_not_allowed", alg)
      assert.strictEqual(yield* bent(ed, { header: { alg: "ES256" } }), "alg_not_allowed")
      assert.strictEqual(yield* bent(es, { header: { alg: "EdDSA" } }), "alg_not_allowed")
      const unsigned = withSignatures({ protected: toBase64url(utf8('{"alg":"none","kid":"acme"}')), signature: "" })
      assert.strictEqual(yield* reasonOf(unsigned), "alg_not_allowed")
      assert.strictEqual(
        yield* reasonOf(withSignatures({ ...signatureOf(card, ed), signature: "" })),
        "signature_invalid"
      )
    })
  )

  it.effect("is rejected when its public key was used as a shared secret", () =>
    Effect.gen(function* () {
      for (const secret of [ed.trusted.publicKey, es.trusted.publicKey, utf8(toBase64(ed.trusted.publicKey))]) {
        for (const alg of ["HS256", "EdDSA", "ES256"]) {
          const head = toBase64url(utf8(JSON.stringify({ alg, kid: alg === "ES256" ? "corp-2026" : "acme" })))
          const mac = createHmac("sha256", secret)
            .update(`${head}.${toBase64url(canonicalBytes(card))}`)
            .digest()
          assert.strictEqual(
            yield* reasonOf(withSignatures({ protected: head, signature: toBase64url(mac) })),
            alg === "HS256" ? "alg_not_allowed" : "signature_invalid"
          )
        }
      }
    })
  )

  it.effect("is malformed when its signatures have another shape", () =>
    Effect.gen(function* () {
      const good = signatureOf(card, ed)
      const bad: ReadonlyArray<unknown> = [
        null,
        "x",
        [],
        {},
        { protected: good["protected"] },
        { ...good, signature: 1 },
        { ...good, kid: "acme" },
        { ...good, header: [] },
        { ...good, header: { kid: "acme" } },
        { ...good, header: { alg: "EdDSA" } },
        { ...good, protected: `${String(good["protected"])}=` },
        { ...good, signature: `${String(good["signature"])}==` },
        { ...good, signature: "a" },
        { ...good, protected: "" },
        signatureOf(card, ed, { headerText: '{"alg":"EdDSA","alg":"EdDSA","kid":"acme"}' }),
        signatureOf(card, ed, { headerText: '{"alg":"EdDSA"}' }),
        signatureOf(card, ed, { headerText: '{"kid":"acme"}' }),
        signatureOf(card, ed, { headerText: '["alg"]' }),
        signatureOf(card, ed, { header: { crit: ["b64"], b64: false } }),
        signatureOf(card, ed, { header: { kid: 1 } })
      ]
      for (const signature of bad)
        assert.strictEqual(yield* reasonOf(withSignatures(signature)), "card_malformed", JSON.stringify(signature))
      assert.strictEqual(yield* reasonOf(withSignatures(good, bad[4])), "card_malformed")
      for (const none of [
        withSignatures(),
        utf8(JSON.stringify(card)),
        withSignatures(...Array<unknown>(17).fill(good))
      ])
        assert.strictEqual(yield* reasonOf(none), "card_malformed")
      assert.strictEqual(yield* reasonOf(withSignatures(...Array<unknown>(16).fill(good))), "ok")
      assert.strictEqual(yield* reasonOf(withSignatures({ ...good, header: { note: "x" } })), "ok")
    })
  )

  it.effect("is malformed when it holds something that others would read in another way", () =>
    Effect.gen(function* () {
      const text = JSON.stringify({ ...card, signatures: [signatureOf(card, ed)] })
      assert.strictEqual(yield* reasonOf(utf8(text)), "ok")
      for (const broken of [
        text.replace('"name":"courier"', '"name":"courier","name":"courier"'),
        text.replace('"version"', '"extra":1,"version"'),
        text.replace("Pays invoices", "\\ud800"),
        `\ufeff${text}`,
        `${text} x`,
        text.replace('"tags":[]', '"tags":[],"tags":[]'),
        "[]",
        "null",
        "",
        "{}",
        text.replace('"courier"', "7"),
        text.replace('"courier"', '""')
      ])
        assert.strictEqual(yield* reasonOf(utf8(broken)), "card_malformed", broken.slice(0, 80))
      assert.strictEqual(yield* reasonOf(Uint8Array.from([...utf8(text), 0xff])), "card_malformed")
      const huge = { ...card, capabilities: { extensions: [{ uri: "u", params: { n: 1 } }] } }
      const signed = JSON.stringify({ ...huge, signatures: [signatureOf(huge, ed)] })
      assert.strictEqual(yield* reasonOf(utf8(signed)), "ok")
      assert.strictEqual(yield* reasonOf(utf8(signed.replace('"n":1', '"n":9007199254740993'))), "card_malformed")
    })
  )

  it.effect("needs one good signature, whatever stands beside it; else the one that came furthest tells why", () =>
    Effect.gen(function* () {
      const stranger = ed25519Key("stranger", 9)
      const old = ed25519Key("old", 8, { revoked: true })
      const keys = [ed.trusted, es.trusted, old.trusted]
      const broken = { ...signatureOf(card, es), signature: toBase64url(new Uint8Array(64)) }
      for (const beside of [
        signatureOf(card, stranger),
        signatureOf(card, old),
        broken,
        signatureOf(card, ed, { header: { alg: "none" } })
      ]) {
        assert.strictEqual(yield* reasonOf(withSignatures(beside, signatureOf(card, ed)), keys), "ok")
        assert.strictEqual(yield* reasonOf(withSignatures(signatureOf(card, ed), beside), keys), "ok")
      }
      assert.deepStrictEqual(yield* judge(withSignatures(signatureOf(card, stranger), signatureOf(card, old)), keys), {
        verdict: "rejected",
        reason: "key_revoked",
        alg: "EdDSA",
        keyId: "old",
        claimedKeyId: null
      })
      assert.strictEqual(
        yield* reasonOf(withSignatures(broken, signatureOf(card, old), signatureOf(card, stranger)), keys),
        "signature_invalid"
      )
      assert.deepStrictEqual(yield* judge(a2aCard(card, stranger)), {
        verdict: "rejected",
        reason: "key_unknown",
        alg: "EdDSA",
        keyId: null,
        claimedKeyId: "stranger"
      })
    })
  )

  it.effect("never takes a key from its header", () =>
    Effect.gen(function* () {
      const mallory = ed25519Key("mallory", 66)
      const jwk = { kty: "OKP", crv: "Ed25519", x: toBase64url(mallory.trusted.publicKey) }
      assert.strictEqual(
        yield* bent(mallory, { header: { jwk, jku: "https://example.org/keys", x5u: "https://example.org/cert" } }),
        "key_unknown"
      )
      assert.strictEqual(yield* bent(mallory, { header: { kid: "acme", jwk } }), "signature_invalid")
      assert.strictEqual(yield* bent(ed, { header: { jwk, jku: "https://example.org/keys" } }), "ok")
    })
  )

  it.effect("counts for the agent whose name it says, and by keys that may vouch for it", () =>
    Effect.gen(function* () {
      const reasonFor = (name: string, trusted: TrustedKey) =>
        Effect.map(judge(a2aCard(card, ed), [trusted], name), ({ reason }) => reason)
      assert.strictEqual(yield* reasonFor("courier", ed.trusted), "ok")
      assert.strictEqual(yield* reasonFor("Courier", ed.trusted), "name_mismatch")
      assert.strictEqual(yield* reasonFor("agt_00000000000000000000000000", ed.trusted), "name_mismatch")
      assert.strictEqual(yield* reasonFor("courier", { ...ed.trusted, agents: ["courier"] }), "ok")
      assert.strictEqual(yield* reasonFor("courier", { ...ed.trusted, agents: ["refunds"] }), "key_unknown")
      const normalize = vi.spyOn(String.prototype, "normalize")
      assert.strictEqual(
        (yield* judge(a2aCard(cardOf("\u0323\u0301".repeat(50_000)), ed), [ed.trusted], "courier")).reason,
        "name_mismatch"
      )
      assert.strictEqual(normalize.mock.calls.length, 0)
      normalize.mockRestore()
      const accents = cardOf("cafe\u0301")
      assert.strictEqual((yield* judge(a2aCard(accents, ed), [ed.trusted], "caf\u00e9")).reason, "ok")
      // An unsigned card learns nothing of the name.
      assert.strictEqual(
        yield* Effect.map(
          judge(withSignatures({ ...signatureOf(card, ed), signature: "" }), [ed.trusted], "other"),
          ({ reason }) => reason
        ),
        "signature_invalid"
      )
    })
  )

  it.effect("counts while its key does", () =>
    Effect.gen(function* () {
      const rows: ReadonlyArray<readonly [Partial<TrustedKey>, string]> = [
        [{ expiresAtMs: now }, "key_expired"],
        [{ expiresAtMs: now + 1 }, "ok"],
        [{ notBeforeMs: now + 1 }, "key_expired"],
        [{ notBeforeMs: now }, "ok"],
        [{ revoked: true }, "key_revoked"],
        [{ revoked: true, expiresAtMs: 0 }, "key_revoked"]
      ]
      for (const [more, reason] of rows)
        assert.strictEqual(
          yield* reasonOf(a2aCard(card, ed), [{ ...ed.trusted, ...more }]),
          reason,
          JSON.stringify(more)
        )
    })
  )

  it.effect("takes an ES256 signature of 64 bytes only, and its mirror image", () =>
    Effect.gen(function* () {
      const good = signatureOf(card, es)
      const raw = fromBase64url(String(good["signature"]))!
      const reason = (bytes: Uint8Array) => reasonOf(withSignatures({ ...good, signature: toBase64url(bytes) }))
      for (const bytes of [
        raw.subarray(1),
        Uint8Array.from([...raw, 0]),
        Uint8Array.from([0, ...raw]),
        new Uint8Array(64),
        new Uint8Array(0)
      ])
        assert.strictEqual(yield* reason(bytes), "signature_invalid")
      const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
      const s = BigInt(`0x${Buffer.from(raw.subarray(32)).toString("hex")}`)
      assert.strictEqual(
        yield* reason(
          Uint8Array.from([...raw.subarray(0, 32), ...Buffer.from((order - s).toString(16).padStart(64, "0"), "hex")])
        ),
        "ok"
      )
      const offCurve = Uint8Array.from(es.trusted.publicKey)
      offCurve[64]! ^= 1
      assert.strictEqual(
        yield* reasonOf(a2aCard(card, es), [{ ...es.trusted, publicKey: offCurve }]),
        "signature_invalid"
      )
    })
  )
})

describe("a card whose bytes are signed", () => {
  const bytes = utf8(JSON.stringify({ ...card, anything: { of: "ours" } }))
  const signature = ed.sign(bytes)

  it.effect("is verified by the key that is named, by id or by its bytes", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* detached(bytes, signature), "ok")
      assert.strictEqual(yield* detached(bytes, signature, { publicKey: ed.trusted.publicKey }), "ok")
      assert.strictEqual(yield* detached(bytes, signature, { keyId: "nobody" }), "key_unknown")
      // A key that the caller brings along is none of ours.
      assert.strictEqual(
        yield* detached(bytes, ed25519Key("m", 66).sign(bytes), { publicKey: ed25519Key("m", 66).trusted.publicKey }),
        "key_unknown"
      )
      assert.strictEqual(yield* detached(bytes, ed25519Key("m", 66).sign(bytes)), "signature_invalid")
      assert.strictEqual(yield* detached(bytes, es.sign(bytes), { keyId: "corp-2026" }), "alg_not_allowed")
    })
  )

  it.effect("is rejected with a signature in a second spelling", () =>
    Effect.gen(function* () {
      const order = 2n ** 252n + 27742317777372353535851937790883648493n
      const s = signature.subarray(32).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n) + order
      const malleated = Uint8Array.from([
        ...signature.subarray(0, 32),
        ...Array.from({ length: 32 }, (_, i) => Number((s >> BigInt(8 * i)) & 0xffn))
      ])
      for (const other of [
        malleated,
        signature.subarray(1),
        Uint8Array.from([...signature, 0]),
        new Uint8Array(64),
        new Uint8Array(0)
      ])
        assert.strictEqual(yield* detached(bytes, other), "signature_invalid")
    })
  )

  it.effect("is rejected by a key for which anybody can sign, also where the trust store holds it", () =>
    Effect.gen(function* () {
      const identity = Uint8Array.from([1, ...new Uint8Array(31)])
      const weak: TrustedKey = { ...ed.trusted, publicKey: identity }
      // R = S·B with S = 0 is the identity: a library without the strict rules takes it for every message.
      assert.strictEqual(
        yield* detached(bytes, Uint8Array.from([...identity, ...new Uint8Array(32)]), { keyId: "acme" }, [weak]),
        "signature_invalid"
      )
    })
  )

  it.effect(
    "is malformed when it is no object with a name, or has a member twice; its other members are signed as they are",
    () =>
      Effect.gen(function* () {
        for (const text of [
          "[]",
          "{}",
          "x",
          '{"name":1}',
          '{"name":"courier","name":"courier"}',
          '{"name":"courier","n":1e999}',
          '{"name":"courier","a":"\\ud800"}'
        ]) {
          assert.strictEqual(yield* detached(utf8(text), ed.sign(utf8(text))), "card_malformed", text)
        }
      })
  )
})
