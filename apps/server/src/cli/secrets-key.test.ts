import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeEach(() => {
  me = operator()
})
afterEach(() => me.leave())

const body = { url: "https://hooks.example.org/flyball", events: ["agent.suspended"] }

/** A store with two webhooks, one revoked, whose key is in `vault`. */
const storeWithWebhooks = async (): Promise<{ readonly kept: string; readonly key: string }> => {
  const server = await me.serve()
  const [kept, gone] = [
    await server.call("POST", "/api/v1/webhooks", body),
    await server.call("POST", "/api/v1/webhooks", body)
  ]
  assert.deepEqual([kept.status, gone.status], [201, 201])
  const [id, revoked] = [((await kept.json()) as { id: string }).id, ((await gone.json()) as { id: string }).id]
  assert.strictEqual((await server.call("POST", `/api/v1/webhooks/${revoked}/revoke`)).status, 200)
  const { err, status } = await server.stop("SIGTERM")
  const key = me.path(".flyball", "secrets.key")
  assert.strictEqual(status, 0)
  assert.include(err, `flyball: a new key for webhooks' secrets was created in ${realpathSync(me.path(".flyball"))}.\n`)
  assert.strictEqual(statSync(key).mode & 0o077, 0)
  copyFileSync(key, me.path("vault"))
  return { kept: id, key }
}

describe("the key that seals webhooks' secrets", () => {
  it("must be the one that the store's webhooks were sealed with: another does not start", async () => {
    const { kept, key } = await storeWithWebhooks()
    rmSync(key)
    for (const _ of [1, 2]) {
      const { err, out, status } = await me.flyball(["serve"])
      assert.deepEqual([status, out], [1, ""])
      assert.include(
        err,
        `flyball serve: the secret of webhook ${kept} cannot be decrypted with the key in ` +
          `${realpathSync(me.path(".flyball"))}/secrets.key: there is no such file. `
      )
      assert.notInclude(err, "was made")
      assert.isFalse(existsSync(key), "a wrong key in its place would pass for the right one")
      assert.include(
        err,
        "Restore the right secrets.key from your vault. If it is lost, set FLYBALL_SECRETS_LOST=1, start, " +
          "and give each webhook a new secret (rotate-secret).\n"
      )
    }
    writeFileSync(key, `${Buffer.alloc(32, 7).toString("base64")}\n`, { mode: 0o600 })
    const another = await me.flyball(["serve"])
    assert.strictEqual(another.status, 1)
    assert.include(another.err, "/secrets.key: it was sealed with the key ")
    // Commands that send nothing need no such key.
    assert.strictEqual((await me.flyball(["check"])).status, 0)

    copyFileSync(me.path("vault"), key)
    const again = await me.serve()
    assert.strictEqual((await again.stop("SIGTERM")).status, 0)
  })

  it("may be lost: then each webhook has a new secret, without an overlap", async () => {
    const { kept, key } = await storeWithWebhooks()
    rmSync(key)
    const server = await me.serve({ FLYBALL_SECRETS_LOST: "1" })
    const before = await server.call("POST", `/api/v1/webhooks/${kept}/test`)
    assert.deepEqual([before.status, ((await before.json()) as { code: string }).code], [503, "webhooks_unavailable"])
    const rotated = await server.call("POST", `/api/v1/webhooks/${kept}/rotate-secret`)
    assert.deepInclude(await rotated.json(), { secret_overlap_until: null })
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    const again = await me.serve()
    assert.strictEqual((await again.stop("SIGTERM")).status, 0)
  })

  it("stops the start of a SQLite store only while a webhook has a secret, a disabled one too", async () => {
    const { kept, key } = await storeWithWebhooks()
    const act = async (what: "disable" | "revoke") => {
      const server = await me.serve()
      assert.strictEqual((await server.call("POST", `/api/v1/webhooks/${kept}/${what}`)).status, 200)
      assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    }
    await act("disable")
    rmSync(key)
    assert.include((await me.flyball(["serve"])).err, `the secret of webhook ${kept} cannot be decrypted with the key`)
    copyFileSync(me.path("vault"), key)
    await act("revoke")

    rmSync(key)
    const server = await me.serve()
    assert.strictEqual((await server.call("POST", "/api/v1/webhooks", body)).status, 201)
    const { err, status } = await server.stop("SIGTERM")
    assert.strictEqual(status, 0)
    assert.include(err, "a new key for webhooks' secrets was created in")
    // It is the store's from now on: the one in the vault opens nothing.
    copyFileSync(me.path("vault"), key)
    assert.strictEqual((await me.flyball(["serve"])).status, 1)
  })

  it("stops every start while the file is garbled or others may read it, whatever the store holds", async () => {
    for (const [text, mode, sentence] of [
      ["not a key\n", 0o600, "each line is expected to be the base64 of 32 random bytes"],
      [`${Buffer.alloc(32, 7).toString("base64")}\n`, 0o644, "may read"]
    ] as const) {
      mkdirSync(me.path(".flyball"), { recursive: true, mode: 0o700 })
      rmSync(me.path(".flyball", "secrets.key"), { force: true })
      writeFileSync(me.path(".flyball", "secrets.key"), text, { mode })
      const { err, status } = await me.flyball(["serve"], { FLYBALL_SECRETS_LOST: "1" })
      assert.strictEqual(status, 1)
      assert.include(err, sentence)
    }
    const inMemory = await me.serve({ FLYBALL_DATABASE_URL: "sqlite::memory:" })
    assert.strictEqual((await inMemory.stop("SIGTERM")).status, 0)
  })

  it("may be a file elsewhere, and is not made in the data folder then", async () => {
    const server = await me.serve({ FLYBALL_SECRETS_KEY_FILE: me.path("mounted") })
    assert.strictEqual((await server.call("POST", "/api/v1/webhooks", body)).status, 201)
    const { err, status } = await server.stop("SIGTERM")
    assert.strictEqual(status, 0)
    assert.include(err, `flyball: a new key for webhooks' secrets was created in ${realpathSync(me.folder)}.\n`)
    assert.notInclude(readdirSync(me.path(".flyball")), "secrets.key")
    assert.strictEqual((await me.flyball(["serve"])).status, 1, "with the data folder's own")
  })
})
