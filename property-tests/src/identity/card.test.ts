/** Cards of any content and any damage: what was signed is verified, and nothing else is. */
import { judgeCard } from "../../../packages/core/src/registry/identity/judge-card.ts"
import { signedForm } from "../../../packages/rules/src/identity/signed-form.ts"
import {
  a2aCard,
  cardOf,
  ed25519Key,
  es256Key,
  type TestKey
} from "../../../packages/core/src/registry/identity/testing/cards.ts"
import { canonicalBytes, canonicalize, type JsonObject, portableCrypto, readJson, utf8 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"

const SEED = 20_261_122
const ed = ed25519Key("acme")
const es = es256Key("corp")
const keys = [ed.trusted, es.trusted]
const court = { crypto: nodeCrypto, keys, agentName: "courier", nowMs: 0 }
const reason = (bytes: Uint8Array, signature: Uint8Array | null = null): Promise<string> =>
  Effect.runPromise(
    Effect.map(
      judgeCard({ card: bytes, detached: signature === null ? null : { signature, key: { keyId: "acme" } } }, court),
      (verdict) => verdict.reason
    )
  )

const word = fc.string({ unit: "binary", maxLength: 10 }).filter((text) => text.isWellFormed())
/** Whole numbers past 2^53 are refused: of two of them that differ, both read the same. */
const fraction = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value))
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fraction,
    word,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(word, tie("value"), { maxKeys: 3 })
  )
})).value
const optional = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })
const withoutUndefined = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject
/** Cards as signers write them: already without defaults that are not signed. */
const card = fc
  .record({
    name: fc.constant("courier"),
    description: optional(word),
    version: optional(word),
    iconUrl: optional(word),
    defaultInputModes: optional(fc.array(word, { maxLength: 3 })),
    capabilities: optional(
      fc.record({
        streaming: optional(fc.boolean()),
        extensions: optional(
          fc.array(
            fc.record({ uri: word, required: fc.boolean(), params: fc.dictionary(word, json, { maxKeys: 3 }) }),
            { maxLength: 2 }
          )
        )
      })
    ),
    skills: optional(
      fc.array(
        fc.record({ id: word, tags: fc.array(word, { maxLength: 2 }), examples: fc.array(word, { maxLength: 2 }) }),
        { maxLength: 2 }
      )
    )
  })
  .map(withoutUndefined)

const flipped = (bytes: Uint8Array, at: number, mask: number): Uint8Array => {
  const other = Uint8Array.from(bytes)
  other[at % bytes.length]! ^= mask
  return other
}
const damage = { at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) }

describe("a card whose bytes are signed", () => {
  it("is verified unchanged, and rejected with any byte of card or signature changed", () =>
    fc.assert(
      fc.asyncProperty(card, fc.boolean(), damage.at, damage.mask, async (content, inCard, at, mask) => {
        const bytes = utf8(JSON.stringify(content))
        const signature = ed.sign(bytes)
        assert.equal(await reason(bytes, signature), "ok")
        const verdict = inCard
          ? await reason(flipped(bytes, at, mask), signature)
          : await reason(bytes, flipped(signature, at, mask))
        assert.include(["signature_invalid", "card_malformed"], verdict)
      }),
      { seed: SEED, numRuns: 300 }
    ))
})

describe("an A2A card", () => {
  for (const key of [ed, es] as ReadonlyArray<TestKey>) {
    it(`signed with ${key.trusted.alg} is verified in any JSON form of the signed content`, () =>
      fc.assert(
        fc.asyncProperty(card, fc.nat(4), async (content, indent) => {
          const signed = signedForm(content)
          assert.isNotNull(signed)
          const { signatures } = JSON.parse(new TextDecoder().decode(a2aCard(signed!, key))) as {
            readonly signatures: unknown
          }
          for (const served of [
            { ...content, signatures },
            { signatures, ...signed }
          ])
            assert.equal(await reason(utf8(JSON.stringify(served, null, indent))), "ok")
        }),
        { seed: SEED, numRuns: 100 }
      ))

    it(`signed with ${key.trusted.alg} is verified with a flipped byte only when its content is the same`, () =>
      fc.assert(
        fc.asyncProperty(card, damage.at, damage.mask, async (content, at, mask) => {
          const signed = signedForm(content)!
          const bytes = flipped(a2aCard(signed, key), at, mask)
          if ((await reason(bytes)) !== "ok") return
          const read = readJson(bytes)
          assert.isTrue(read.ok)
          assert.equal(canonicalize(signedForm((read as { readonly value: JsonObject }).value)), canonicalize(signed))
        }),
        { seed: SEED, numRuns: 400 }
      ))
  }

  it("is rejected with any single bit of its signature flipped", async () => {
    const { signatures } = JSON.parse(new TextDecoder().decode(a2aCard(cardOf("courier"), ed))) as {
      readonly signatures: ReadonlyArray<{ readonly protected: string; readonly signature: string }>
    }
    const raw = Buffer.from(signatures[0]!.signature, "base64url")
    for (let bit = 0; bit < raw.length * 8; bit++) {
      const signature = Buffer.from(flipped(raw, bit >> 3, 1 << (bit & 7))).toString("base64url")
      assert.equal(
        await reason(utf8(JSON.stringify({ ...cardOf("courier"), signatures: [{ ...signatures[0]!, signature }] }))),
        "signature_invalid",
        `bit ${bit}`
      )
    }
  })

  it("has an idempotent signed form", () =>
    fc.assert(
      fc.property(card, (content) => {
        const once = signedForm(content)!
        assert.deepEqual(canonicalBytes(signedForm(once)), canonicalBytes(once))
      }),
      { seed: SEED, numRuns: 500 }
    ))

  it("of any other content is rejected without throwing", () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          json.map((value) => utf8(JSON.stringify(value))),
          fc.uint8Array({ maxLength: 80 }),
          json.map((value) => utf8(JSON.stringify({ ...cardOf("courier"), signatures: value }))),
          json.map((value) =>
            utf8(JSON.stringify({ ...cardOf("courier"), signatures: [{ protected: value, signature: value }] }))
          )
        ),
        async (bytes) => {
          assert.equal(await reason(bytes), "card_malformed")
          assert.include(["card_malformed", "signature_invalid"], await reason(bytes, new Uint8Array(64)))
        }
      ),
      { seed: SEED, numRuns: 500 }
    ))
})

it("both crypto libraries give the same verdict", () =>
  fc.assert(
    fc.asyncProperty(card, damage.at, damage.mask, async (content, at, mask) => {
      const bytes = utf8(JSON.stringify(content))
      const signature = flipped(ed.sign(bytes), at, mask)
      const judge = (crypto: typeof nodeCrypto) =>
        Effect.runPromise(
          judgeCard({ card: bytes, detached: { signature, key: { keyId: "acme" } } }, { ...court, crypto })
        )
      assert.deepEqual(await judge(portableCrypto), await judge(nodeCrypto))
    }),
    { seed: SEED, numRuns: 40 }
  ))
