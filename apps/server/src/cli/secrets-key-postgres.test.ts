/** The key of webhooks' secrets where several processes share one store. */
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { operator, type Operator, type RunningServer, type Variables } from "./testing/commands.ts"

let me: Operator
const database = givenDatabase({ beforeAll: beforeEach, afterAll: afterEach })
/** Of the first process, and of one that has its key elsewhere, as on another host. */
let one: Variables
let other: Variables

beforeEach(async () => {
  me = operator()
  one = { FLYBALL_DATABASE_URL: database.url, FLYBALL_EGRESS_ALLOW: "127.0.0.1" }
  other = { ...one, FLYBALL_SECRETS_KEY_FILE: me.path("other.key") }
})
afterEach(async () => {
  await me.leave()
})

const newKey = (): string => `${randomBytes(32).toString("base64")}\n`
const write = (file: string, text: string): void => writeFileSync(file, text, { mode: 0o600 })

describe("a second process on Postgres", () => {
  it("does not start without the key of the first, nor with another, though there is no webhook yet", async () => {
    await me.serve(one)
    const without = await me.flyball(["serve"], other)
    assert.deepEqual([without.status, without.out], [1, ""])
    assert.include(
      without.err,
      "flyball serve: the key that encrypts webhooks' secrets in this store is not in " +
        `${me.path("other.key")}: there is no such file. `
    )
    assert.include(
      without.err,
      "All processes of one store have the same secrets.key: copy it from one of them, or restore it from " +
        "your vault."
    )
    assert.isFalse(existsSync(me.path("other.key")), "a wrong key in its place would pass for the right one")
    write(me.path("other.key"), newKey())
    const wrong = await me.flyball(["serve"], other)
    assert.deepEqual([wrong.status, wrong.out], [1, ""])
    assert.include(wrong.err, "/other.key: it was sealed with the key ")
  })

  it("brings a new key while the first runs; a process with only the old one no longer starts", async () => {
    const first = await me.serve(one)
    const authorization = `Bearer ${(await me.flyball(["token", "--role", "admin"], one)).out.trim()}`
    const call = async (server: RunningServer, path: string, body?: unknown) => {
      const answer = await fetch(`${server.url}/api/v1/webhooks${path}`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      return { status: answer.status, id: ((await answer.json()) as { id: string }).id }
    }
    // Nobody listens there: what counts is whether it is signed for.
    const made = (server: RunningServer) =>
      call(server, "", { url: "https://127.0.0.1:1025/", events: ["agent.suspended"] })

    const before = await made(first)
    const key = me.path(".flyball", "secrets.key")
    const old = readFileSync(key, "utf8")
    const added = newKey() + old
    for (const file of [key, me.path("other.key")]) write(file, added)
    const second = await me.serve(other)
    for (const webhook of [before, await made(second), await made(first)]) {
      assert.strictEqual(webhook.status, 201)
      for (const server of [first, second]) assert.strictEqual((await call(server, `/${webhook.id}/test`)).status, 200)
    }
    await second.stop("SIGTERM")
    write(me.path("other.key"), old)
    const behind = await me.flyball(["serve"], other)
    assert.deepEqual([behind.status, behind.out], [1, ""])
    assert.include(behind.err, "/other.key: it was sealed with the key ")
  })
})
