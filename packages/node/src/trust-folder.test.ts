import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises"
import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openGovernor, memoryStorage, trustLayerOf, TrustStore } from "@flyball/core"
import { Effect, Layer, Logger } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { readTrustFolder, trustFolder } from "./trust-folder.ts"

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "flyball-trust-"))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const put = async (name: string, content: string | Uint8Array, mode = 0o644): Promise<void> => {
  await writeFile(join(dir, name), content)
  await chmod(join(dir, name), mode)
}
const pem = (key: KeyObject): string => key.export({ format: "pem", type: "spki" }) as string
const ed = generateKeyPairSync("ed25519")
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" })
const jwkOf = (key: KeyObject, more: { readonly [name: string]: unknown } = {}): string =>
  JSON.stringify({ ...key.export({ format: "jwk" }), ...more })
const ids = async (): Promise<ReadonlyArray<string>> => (await readTrustFolder(dir)).keys.map(({ keyId }) => keyId)
/** The sentences of what was refused, without the folder. */
const refused = async (): Promise<ReadonlyArray<string>> =>
  (await readTrustFolder(dir)).refused.map((sentence) => sentence.replaceAll(dir, "."))

describe("a trust folder", () => {
  it.each([
    [undefined, /trustFolder cannot be used: dir is a path, .* not undefined/],
    [{ dir: "" }, /dir is a path, .* not ""/],
    [{ dir: 7 }, /not 7/]
  ])("is none at %j, which the governor that opens over it says", async (options, why) => {
    const opened = openGovernor({
      storage: memoryStorage(),
      trustStore: trustFolder(options as unknown as { readonly dir: string })
    })
    await opened.then(
      () => assert.fail("it opened"),
      (error: unknown) => {
        assert.propertyVal(error, "code", "trust_store_unreadable")
        assert.match(String(error), why)
      }
    )
  })

  it("holds keys as PEM, named by their file, and as JWK, named by their kid or their file", async () => {
    await put("acme.pem", pem(ed.publicKey))
    await put(
      "b.jwk",
      jwkOf(ec.publicKey, {
        kid: "corp:2026",
        alg: "ES256",
        use: "sig",
        key_ops: ["verify"],
        flyball_agents: ["cafe\u0301"],
        nbf: 1,
        exp: 2
      })
    )
    const { keys, refused } = await readTrustFolder(dir)
    assert.deepEqual(refused, [])
    const { x } = ed.publicKey.export({ format: "jwk" })
    const point = ec.publicKey.export({ format: "jwk" })
    const thumbprint = (json: object): string => createHash("sha256").update(JSON.stringify(json)).digest("base64url")
    assert.deepEqual(keys, [
      {
        keyId: "acme",
        thumbprint: thumbprint({ crv: "Ed25519", kty: "OKP", x }),
        alg: "EdDSA",
        publicKey: Uint8Array.from(Buffer.from(x!, "base64url")),
        notBeforeMs: null,
        expiresAtMs: null,
        revoked: false,
        agents: null
      },
      {
        keyId: "corp:2026",
        thumbprint: thumbprint({ crv: "P-256", kty: "EC", x: point.x, y: point.y }),
        alg: "ES256",
        publicKey: Uint8Array.from([4, ...Buffer.from(point.x!, "base64url"), ...Buffer.from(point.y!, "base64url")]),
        notBeforeMs: 1_000,
        expiresAtMs: 2_000,
        revoked: false,
        agents: ["caf\u00e9"]
      }
    ])
    await rename(join(dir, "b.jwk"), join(dir, "c.jwk"))
    await put("c.jwk", jwkOf(ec.publicKey))
    assert.deepEqual(await ids(), ["acme", "c"])
  })

  it("computes the thumbprint in RFC 8037", async () => {
    await put("a.jwk", '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}')
    assert.equal((await readTrustFolder(dir)).keys[0]!.thumbprint, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
  })

  it("reports a key as revoked, by a member of the key or by a file beside it", async () => {
    await put("acme.pem", pem(ed.publicKey))
    await put("corp.jwk", jwkOf(ec.publicKey, { kid: "corp-1" }))
    const states = async () =>
      Object.fromEntries((await readTrustFolder(dir)).keys.map(({ keyId, revoked }) => [keyId, revoked]))
    assert.deepEqual(await states(), { acme: false, "corp-1": false })
    await put("acme.revoked", "")
    assert.deepEqual(await states(), { acme: true, "corp-1": false })
    await put("corp-1.revoked", "lost")
    assert.deepEqual(await states(), { acme: true, "corp-1": true })
    await rm(join(dir, "corp-1.revoked"))
    await put("corp.jwk", jwkOf(ec.publicKey, { kid: "corp-1", revoked: { revoked_at: 1 } }))
    assert.deepEqual(await states(), { acme: true, "corp-1": true })
  })

  it("ignores names that begin with a dot, and follows the links of mounted secrets", async () => {
    await mkdir(join(dir, "..data"))
    await put("..data/key", pem(ed.publicKey))
    await symlink(join("..data", "key"), join(dir, "acme.pem"))
    await put(".acme.pem.swp", "x")
    assert.deepEqual([await ids(), await refused()], [["acme"], []])
  })
})

describe("what a trust folder does not trust", () => {
  it("is a file that others may write, or nobody may read, or that is no file", async () => {
    await put("a.pem", pem(ed.publicKey), 0o664)
    await put("b.pem", pem(ec.publicKey), 0o646)
    await mkdir(join(dir, "c.pem"))
    execFileSync("mkfifo", [join(dir, "d.pem")])
    await put("e.txt", pem(ed.publicKey))
    await put("f.pem", "x".repeat(16_385))
    assert.deepEqual(await refused(), [
      "./a.pem: its group or everybody may write it, and so decide whom to trust. Take that right away (chmod go-w)",
      "./b.pem: its group or everybody may write it, and so decide whom to trust. Take that right away (chmod go-w)",
      "./c.pem: a file is expected, and something else is there",
      "./d.pem: a file is expected, and something else is there",
      "./e.txt: names here end in .pem, .jwk or .revoked. Move other files elsewhere",
      "./f.pem: a public key has at most 16384 bytes here, and this file has 16385"
    ])
    assert.deepEqual(await ids(), [])
  })

  it("is a file that holds something else than one public key of a kind that is taken", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey
    const oneKey = pem(ed.publicKey)
    const rows: ReadonlyArray<readonly [name: string, content: string, says: RegExp]> = [
      ["a.pem", ed.privateKey.export({ format: "pem", type: "pkcs8" }) as string, /holds a secret key/],
      ["b.pem", oneKey + pem(ec.publicKey), /one public key in PEM/],
      ["c.pem", "", /one public key in PEM/],
      ["d.pem", oneKey.replace("MCow", "MCox"), /one public key in PEM/],
      ["e.pem", pem(rsa), /another kind/],
      ["f.pem", pem(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey), /another kind/],
      ["g.pem", pem(generateKeyPairSync("ed448").publicKey), /another kind/],
      ["h h.pem", oneKey, /key id is expected/],
      ["i.jwk", jwkOf(ed.privateKey), /holds a secret key/],
      ["j.jwk", '{"kty":"oct","k":"AAAA"}', /holds a secret key/],
      ["k.jwk", "[]", /one JWK/],
      ["l.jwk", jwkOf(ed.publicKey).replace("{", '{"kty":"OKP",'), /without a member twice/],
      ["m.jwk", jwkOf(ed.publicKey, { use: "enc" }), /one JWK/],
      ["n.jwk", jwkOf(ed.publicKey, { key_ops: ["sign"] }), /one JWK/],
      ["o.jwk", jwkOf(ed.publicKey, { alg: "ES256" }), /alg does not fit/],
      ["p.jwk", jwkOf(ec.publicKey, { alg: "none" }), /alg does not fit/],
      ["q.jwk", jwkOf(ed.publicKey, { kid: "a b" }), /key id is expected/],
      ["r.jwk", jwkOf(ed.publicKey, { kid: 1 }), /key id is expected/],
      ["s.jwk", jwkOf(ed.publicKey, { exp: "tomorrow" }), /exp is expected/],
      ["t.jwk", jwkOf(ed.publicKey, { nbf: 1.5 }), /nbf is expected/],
      ["u.jwk", jwkOf(ed.publicKey, { flyball_agents: "all" }), /flyball_agents is expected/],
      ["v.jwk", jwkOf(ec.publicKey, { y: "AAAA" }), /one JWK/],
      [
        "w.jwk",
        JSON.stringify({
          kty: "OKP",
          crv: "Ed25519",
          x: Buffer.from([1, ...Array<number>(31).fill(0)]).toString("base64url")
        }),
        /anybody can sign/
      ]
    ]
    for (const [name, content] of rows) await put(name, content)
    const sentences = await refused()
    assert.lengthOf(sentences, rows.length)
    for (const [index, [name, , says]] of rows.entries()) {
      assert.match(sentences[index]!, says)
      assert.isTrue(sentences[index]!.startsWith(`./${name}: `), sentences[index])
    }
    assert.deepEqual(await ids(), [])
    assert.notMatch(sentences.join(), /MC4CAQ|AAAA|BEGIN [A-Z]+ KEY-----/)
  })

  it("is a key with the name of another key", async () => {
    await put("a.jwk", jwkOf(ed.publicKey, { kid: "same" }))
    await put("b.jwk", jwkOf(ec.publicKey, { kid: "same" }))
    await put("c.pem", pem(generateKeyPairSync("ed25519").publicKey))
    assert.deepEqual(
      [await ids(), await refused()],
      [["c"], [".: two files hold a key called same, and neither is trusted. Keep one"]]
    )
  })
})

describe("a governor with a trust folder", () => {
  const card = Buffer.from('{"name":"courier"}')
  const signed = {
    signed_card: {
      card: card.toString("base64"),
      signature: sign(null, card, ed.privateKey).toString("base64"),
      key_id: "acme"
    }
  }

  it("reads it again for each card, so that a revocation counts at once", async () => {
    await using governor = await openGovernor({ storage: memoryStorage(), trustStore: trustFolder({ dir }) })
    const { agent } = await governor.agents.register({ name: "courier", org_unit: "ops" })
    const reason = async () => (await governor.agents.attachIdentity(agent.id, signed)).reason_code
    assert.equal(await reason(), "key_unknown")
    await put("acme.pem", pem(ed.publicKey))
    assert.equal(await reason(), "ok")
    await put("acme.revoked", "")
    assert.equal(await reason(), "key_revoked")
    await rm(join(dir, "acme.revoked"))
    assert.equal(await reason(), "ok")
    await chmod(join(dir, "acme.pem"), 0o666)
    assert.equal(await reason(), "key_unknown")
    assert.isTrue((await governor.agents.get(agent.id)).identity_verified)
    await rm(dir, { recursive: true })
    const lost = await governor.agents.attachIdentity(agent.id, signed).then(
      () => null,
      (error: { readonly code: string; readonly message: string }) => error
    )
    assert.equal(lost?.code, "trust_store_unavailable")
    assert.include(lost?.message, `The trust store is unavailable: ${dir}: there is no such folder`)
    assert.deepEqual((await governor.check()).differences, [])
  })

  it("does not open over a folder that does not exist, is a file, or that others may write", async () => {
    const problem = (at: string) =>
      openGovernor({ storage: memoryStorage(), trustStore: trustFolder({ dir: at }) }).then(
        (governor) => governor.close().then(() => "opened"),
        (error: Error) => error.message
      )
    await put("file", "")
    assert.match(await problem(join(dir, "none")), /there is no such folder/)
    assert.match(await problem(join(dir, "file")), /a folder is expected/)
    await chmod(dir, 0o777)
    assert.match(await problem(dir), /everybody may write it/)
  })

  it("logs untrusted files once, and again when they change", async () => {
    await put("a.txt", "")
    const said: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => said.push(String(message)))])
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(trustLayerOf(trustFolder({ dir })))
          const keys = TrustStore.use((store) => store.keys).pipe(Effect.provide(context))
          yield* keys
          yield* keys
          yield* Effect.promise(() => put("b.txt", ""))
          yield* keys
        })
      ).pipe(Effect.provide(logger))
    )
    assert.deepEqual(
      said.map((line) => /[ab]\.txt/.exec(line)?.[0]),
      ["a.txt", "b.txt"]
    )
  })
})
