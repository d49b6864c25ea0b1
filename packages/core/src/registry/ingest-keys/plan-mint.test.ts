import { formatInstant, fromUtf8 } from "@flyball/evidence"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { ingestFamily, planRevoke } from "../keys/plan-revoke.ts"
import { planMint } from "./plan-mint.ts"

const asOf = { ms: 1_795_230_000_000, seq: 3 }
const command = {
  keyId: "key_1",
  input: { name: "Ada's laptop", org_unit: "ops" },
  digest: "d".repeat(64),
  writer: { id: "usr_1" }
}

describe("minting an ingest key", () => {
  it("keeps the digest, and what people wrote in a part", () => {
    const { change, key } = Result.getOrThrow(planMint(command, asOf))
    assert.deepInclude(key, {
      digest: command.digest,
      maxAutonomyTier: "L1",
      createdBy: "usr_1",
      expiresAtMs: null,
      revoked: false
    })
    assert.deepStrictEqual(change.puts![0]!.unique, { digest: command.digest })
    assert.deepStrictEqual(change.records![0]!.body, {
      key_digest: command.digest,
      key_id: "key_1",
      max_autonomy_tier: "L1",
      writer: "usr_1"
    })
    assert.strictEqual(fromUtf8(change.records![0]!.parts[0]!.bytes), '{"name":"Ada\'s laptop","org_unit":"ops"}')
  })

  it("takes an end after now, and no other", () => {
    const ending = (ms: number) =>
      planMint({ ...command, input: { ...command.input, expires_at: formatInstant(ms) } }, asOf)
    const taken = Result.getOrThrow(ending(asOf.ms + 1))
    assert.strictEqual(taken.key.expiresAtMs, asOf.ms + 1)
    assert.strictEqual(taken.change.records![0]!.body["expires_at"], formatInstant(asOf.ms + 1))
    assert.deepStrictEqual(Result.getOrThrow(Result.flip(ending(asOf.ms))).detail[0]?.loc, ["body", "expires_at"])
  })
})

describe("revoking an ingest key", () => {
  const { key } = Result.getOrThrow(planMint(command, asOf))
  const revoke = (of = key) =>
    planRevoke(ingestFamily, { keyId: "key_1", key: of, version: 2, writer: { id: "usr_2" } })

  it("says who did it, once a key, and keeps the rest of the document", () => {
    const change = revoke()!
    assert.deepStrictEqual(change.puts, [
      {
        collection: "ingest_keys",
        id: "key_1",
        expectedVersion: 2,
        body: { ...key, revoked: true },
        unique: { digest: key.digest }
      }
    ])
    assert.deepStrictEqual(change.records![0]!.body, { key_id: "key_1", writer: "usr_2" })
    assert.deepStrictEqual(change.records![0]!.once, { scope: "ingest_key.revoked", key: "key_1", digest: key.digest })
  })

  it("changes nothing where it is revoked already", () => {
    assert.isNull(revoke({ ...key, revoked: true }))
  })
})
