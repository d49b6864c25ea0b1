import { portableCrypto, toHex, utf8 } from "@flyball/evidence"
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { hmac, hmacKey } from "./hmac.ts"
import { secretBytes, secretKeys, type SecretKeys, secretText } from "./secret.ts"
import { platformSignature, signatureHeaders, standardSignature } from "./signature.ts"
import { TOLERANCE_MS, verifyDelivery, verifyPlatformSignature } from "./verify.ts"

const { sha256 } = portableCrypto
const vectors = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../../../fixtures/vectors/webhooks/${name}.json`), "utf8"))

interface Signing {
  readonly name: string
  readonly secret: string
  readonly id: string
  readonly timestamp: number
  readonly body: string
  readonly signature: string
}
const standard = vectors("standard-webhooks") as {
  readonly sign_v1: ReadonlyArray<Signing>
  readonly verify_at_timestamp: ReadonlyArray<{
    readonly name: string
    readonly base: string
    readonly signature_header: string
    readonly expect: "accept" | "reject"
  }>
  readonly verify_time: ReadonlyArray<{ readonly skew_seconds: number; readonly expect: "accept" | "reject" }>
  readonly bad_timestamp_headers: ReadonlyArray<string>
  readonly missing_headers_reject: ReadonlyArray<string>
  readonly empty_secret_reject: ReadonlyArray<string>
}
const github = vectors("github-sha256") as {
  readonly vectors: ReadonlyArray<{
    readonly name: string
    readonly secret: string
    readonly body: string
    readonly signature: string
    readonly expect: "accept" | "reject"
  }>
}
const formats = vectors("secret-format") as {
  readonly valid: ReadonlyArray<string>
  readonly invalid: ReadonlyArray<string>
}

const keysOf = (secret: string): SecretKeys => {
  const keys = secretKeys(secret, sha256)
  assert.isNotNull(keys)
  return keys!
}
const received = (
  { body, id, signature, timestamp }: Signing,
  headers: { readonly [name: string]: string | undefined } = {}
) => ({
  headers: { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signature, ...headers },
  body: utf8(body)
})

describe("HMAC", () => {
  it("equals the platform's, for keys and messages of every length around a block", () => {
    for (const keyLength of [0, 1, 24, 32, 63, 64, 65, 200]) {
      for (const length of [0, 1, 55, 64, 1_000]) {
        const key = new Uint8Array(keyLength).fill(7)
        const message = new Uint8Array(length).fill(9)
        assert.strictEqual(
          toHex(hmac(hmacKey(key, sha256), [message.slice(0, 3), message.slice(3)], sha256)),
          createHmac("sha256", key).update(message).digest("hex")
        )
      }
    }
  })
})

describe("secrets", () => {
  it.each(formats.valid.filter((secret) => secret.startsWith("whsec_")))("accept %s", (secret) =>
    assert.isNotNull(secretBytes(secret))
  )
  it.each([...formats.invalid, ...standard.empty_secret_reject])("reject %s", (secret) =>
    assert.isNull(secretBytes(secret))
  )
  it("are 32 bytes after a prefix", () => {
    assert.strictEqual(secretText(new Uint8Array(32)), `whsec_${"A".repeat(43)}=`)
    assert.deepStrictEqual(secretBytes(secretText(new Uint8Array(32).fill(1))), new Uint8Array(32).fill(1))
  })
})

describe("the Standard Webhooks signature", () => {
  it.each(standard.sign_v1)("equals that of other libraries: $name", (vector) => {
    assert.strictEqual(
      standardSignature(keysOf(vector.secret), vector.id, String(vector.timestamp), utf8(vector.body), sha256),
      vector.signature
    )
  })

  it.each(standard.verify_at_timestamp)(
    "is verified as other libraries verify it: $name",
    ({ base, expect, signature_header }) => {
      const vector = standard.sign_v1.find(({ name }) => name === base)!
      const problem = verifyDelivery(
        vector.secret,
        received(vector, { "webhook-signature": signature_header }),
        vector.timestamp * 1000,
        sha256
      )
      assert.strictEqual(problem, expect === "accept" ? null : "signature_wrong")
    }
  )

  it("is valid for five minutes before and after its timestamp", () => {
    const vector = standard.sign_v1[0]!
    const at = (nowMs: number) => verifyDelivery(vector.secret, received(vector), nowMs, sha256)
    for (const { expect, skew_seconds } of standard.verify_time)
      assert.strictEqual(at((vector.timestamp + skew_seconds) * 1000) === null, expect === "accept")
    assert.isNull(at(vector.timestamp * 1000 + TOLERANCE_MS))
    assert.isNull(at(vector.timestamp * 1000 - TOLERANCE_MS))
    assert.strictEqual(at(vector.timestamp * 1000 + TOLERANCE_MS + 1_000), "too_old")
    assert.strictEqual(at(vector.timestamp * 1000 - TOLERANCE_MS - 1), "too_new")
  })

  it("is refused without its headers, with a bad time, and without a secret", () => {
    const vector = standard.sign_v1[0]!
    const nowMs = vector.timestamp * 1000
    for (const name of standard.missing_headers_reject)
      assert.strictEqual(
        verifyDelivery(vector.secret, received(vector, { [name]: undefined }), nowMs, sha256),
        "header_missing"
      )
    for (const value of standard.bad_timestamp_headers)
      assert.strictEqual(
        verifyDelivery(vector.secret, received(vector, { "webhook-timestamp": value }), nowMs, sha256),
        "timestamp_malformed"
      )
    for (const secret of standard.empty_secret_reject)
      assert.strictEqual(verifyDelivery(secret, received(vector), nowMs, sha256), "secret_malformed")
  })

  it("covers body, id and time", () => {
    const vector = standard.sign_v1[0]!
    const nowMs = vector.timestamp * 1000
    assert.isNull(verifyDelivery(vector.secret, received(vector, { "Webhook-Id": undefined }), nowMs, sha256))
    assert.strictEqual(
      verifyDelivery(vector.secret, received(vector, { "webhook-id": `${vector.id}x` }), nowMs, sha256),
      "signature_wrong"
    )
    assert.strictEqual(
      verifyDelivery(
        vector.secret,
        received(vector, { "webhook-timestamp": String(vector.timestamp + 1) }),
        nowMs,
        sha256
      ),
      "signature_wrong"
    )
    assert.strictEqual(
      verifyDelivery(vector.secret, { ...received(vector), body: utf8(`${vector.body} `) }, nowMs, sha256),
      "signature_wrong"
    )
  })
})

describe("the specification's signature", () => {
  it.each(github.vectors)("has the form that other libraries verify: $name", ({ body, expect, secret, signature }) => {
    const problem = verifyPlatformSignature(
      secret,
      { headers: { "x-platform-signature": signature }, body: utf8(body) },
      sha256
    )
    assert.strictEqual(problem, expect === "accept" ? null : "signature_wrong")
    if (expect === "accept")
      assert.strictEqual(platformSignature(hmacKey(utf8(secret), sha256), utf8(body), sha256), signature)
  })

  it("uses the whole text of the secret as key; Standard Webhooks uses the bytes after the prefix", () => {
    const secret = secretText(new Uint8Array(32).fill(5))
    const body = utf8("{}")
    const headers = signatureHeaders({ current: keysOf(secret), old: null }, { id: "evt_1", atMs: 1_500, body }, sha256)
    assert.strictEqual(
      headers["X-Platform-Signature"],
      `sha256=${createHmac("sha256", secret).update("{}").digest("hex")}`
    )
    assert.strictEqual(
      headers["webhook-signature"],
      `v1,${createHmac("sha256", new Uint8Array(32).fill(5)).update("evt_1.1.{}").digest("base64")}`
    )
    assert.strictEqual(headers["webhook-timestamp"], "1")
    assert.isUndefined(
      signatureHeaders({ current: keysOf(secret), old: null }, { id: "evt_1", atMs: 0, body }, sha256, "X-Ours")[
        "X-Platform-Signature"
      ]
    )
  })
})

describe("a rotation", () => {
  const body = utf8("{}")
  const [before, after] = [secretText(new Uint8Array(32).fill(1)), secretText(new Uint8Array(32).fill(2))]
  const sent = (atMs: number) => ({
    headers: signatureHeaders(
      { current: keysOf(after), old: { keys: keysOf(before), untilMs: 10_000 } },
      { id: "evt_1", atMs, body },
      sha256
    ),
    body
  })

  it("is accepted by receivers with either secret until the overlap ends, and by the new one from then on", () => {
    assert.deepStrictEqual(
      [before, after].map((secret) => verifyDelivery(secret, sent(9_999), 9_999, sha256)),
      [null, null]
    )
    assert.deepStrictEqual(
      [before, after].map((secret) => verifyDelivery(secret, sent(10_000), 10_000, sha256)),
      ["signature_wrong", null]
    )
  })

  it("signs a header that holds one signature with the old secret until the overlap ends", () => {
    assert.deepStrictEqual(
      [before, after].map((secret) => verifyPlatformSignature(secret, sent(9_999), sha256)),
      [null, "signature_wrong"]
    )
    assert.deepStrictEqual(
      [before, after].map((secret) => verifyPlatformSignature(secret, sent(10_000), sha256)),
      ["signature_wrong", null]
    )
  })
})
