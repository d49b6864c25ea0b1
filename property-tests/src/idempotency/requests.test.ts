/**
 * Requests with one `Idempotency-Key`, on every storage and through the whole server, in both dialects: k at once have
 * one effect, and its answer; keys and fingerprints mean what the page says. Properties P5 and P8.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Governor, memoryStorage, openGovernor, type StorageChoice } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runs } from "../runs.ts"
import { order, trial } from "./trial.ts"

const database = givenDatabase({ beforeAll, afterAll })

const folder = mkdtempSync(join(tmpdir(), "flyball-idempotency-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Hosts of one store, each with its own server in process. */
const opened = async (storages: ReadonlyArray<StorageChoice>) => {
  const governors: Array<Governor> = []
  const keys = dataFolder({ dir: join(folder, storages[0]!.backend) })
  for (const storage of storages)
    governors.push(await openGovernor({ storage, keys, log: () => undefined, capabilities: [trial], channelCheckS: 0 }))
  const [first] = governors
  const { key } = await first!.platformKeys.mint({ name: "k", org_unit: "ops", plan: "custom", scopes: ["*"] })
  const other = await first!.platformKeys.mint({ name: "rotated", org_unit: "ops", plan: "custom", scopes: ["*"] })
  const elsewhere = await first!.platformKeys.mint({ name: "else", org_unit: "shop", plan: "custom", scopes: ["*"] })
  const apis = governors.map((governor) =>
    openHttp(governor, {
      authentication: { authenticate: () => ({ subject: "ada", grants: [{ role: "admin", org_unit: "*" }] }) }
    })
  )
  const send = async (host: number, path: string, headers: { readonly [name: string]: string }, body: string) => {
    const response = await apis[host % apis.length]!.fetch(
      new Request(`http://host.example${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body
      })
    )
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  /** Orders below `/v1`. */
  const place = (idempotencyKey: string, body: string, { bearer = key, host = 0, path = order.path } = {}) =>
    send(host, path, { authorization: `Bearer ${bearer}`, "idempotency-key": idempotencyKey }, body)
  return {
    governor: first!,
    place,
    ordered: async (item: string) => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await apis[0]!.fetch(new Request(`http://host.example${order.path}`, { headers }))
      const items = (await response.json()) as ReadonlyArray<string>
      return items.filter((one) => one.startsWith(`"${item}`)).length
    },
    /** Registers an agent below `/api/v1`. */
    register: (idempotencyKey: string, name: string, host = 0) =>
      send(host, "/api/v1/agents", { "idempotency-key": idempotencyKey }, JSON.stringify({ name, org_unit: "ops" })),
    send,
    other: other.key,
    elsewhere: elsewhere.key,
    close: async () => {
      for (const governor of governors) await governor.close()
    }
  }
}
type World = Awaited<ReturnType<typeof opened>>

const isReplay = ({ headers }: { readonly headers: Headers }) => headers.get("idempotent-replayed") === "true"

const stores: ReadonlyArray<readonly [string, () => ReadonlyArray<StorageChoice>, number]> = [
  ["memory", () => [memoryStorage()], runs(10, 100)],
  ["SQLite", () => [sqliteStorage({ file: ":memory:" })], runs(10, 100)],
  ["Postgres, with two hosts", () => [0, 1].map(() => postgresStorage({ url: database.url })), runs(5, 50)]
]

describe.each(stores)("on %s", (_, storages, numRuns) => {
  let world: World
  let count = 0
  beforeAll(async () => {
    world = await opened(storages())
  })
  afterAll(() => world.close())
  const fresh = () => `n${count++}`

  it("k requests at once have one effect, and their answers are its answer or 409 (P5)", async () => {
    const calls = fc.record({ host: fc.nat(1), differs: fc.nat(3).map((n) => n === 0) })
    await fc.assert(
      fc.asyncProperty(fc.array(calls, { minLength: 2, maxLength: 6 }), fc.boolean(), async (batch, isGovernance) => {
        const [key, name] = [fresh(), `${fresh()}.`]
        const ask = ({ differs, host }: (typeof batch)[number]) =>
          isGovernance
            ? world.register(key, differs ? `${name}-other` : name, host)
            : world.place(key, JSON.stringify({ item: differs ? `${name} other` : name }), { host })
        const answers = await Promise.all(batch.map(ask))
        const originals = answers.filter((one) => one.status === 201 && !isReplay(one))
        assert.lengthOf(originals, 1)
        const place = answers.indexOf(originals[0]!)
        for (const [at, answer] of answers.entries()) {
          const code = answer.status === 201 ? null : codeOf(answer.text)
          if (batch[at]!.differs !== batch[place]!.differs) assert.strictEqual(code, "idempotency_key_reused")
          else if (at !== place && code !== "idempotency_key_in_use") {
            assert.isTrue(isReplay(answer), answer.text)
            assert.strictEqual(answer.text, originals[0]!.text)
          }
        }
        if (!isGovernance) assert.strictEqual(await world.ordered(name), 1)
        const after = await ask(batch[place]!)
        assert.deepStrictEqual([after.text, isReplay(after)], [originals[0]!.text, true])
      }),
      { numRuns, seed: 32 }
    )
  })

  it("bodies of one canonical form are one request, and any other change is another (P8)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (item, changed) => {
        const key = fresh()
        const first = await world.place(key, JSON.stringify({ item, note: 1 }))
        assert.strictEqual(first.status, 201, first.text)
        const again = await world.place(`"${key}"`, ` {"note" : 1.0, "item": ${JSON.stringify(item, null, 1)}} `)
        assert.deepStrictEqual([again.text, isReplay(again)], [first.text, true])
        const others = [
          await world.place(key, JSON.stringify({ item, note: 2 })),
          await world.place(key, JSON.stringify({ item, note: 1 }), { path: `${order.path}?a=1` }),
          await world.place(key, JSON.stringify({ item: [item, changed], note: 1 }))
        ]
        for (const other of others) {
          assert.strictEqual(codeOf(other.text), "idempotency_key_reused")
          assert.strictEqual(other.headers.get("x-should-retry"), "false")
        }
      }),
      { numRuns, seed: 32 }
    )
  })

  it("a key is its org unit's or its person's, whatever token it comes with", async () => {
    const key = fresh()
    const first = await world.place(key, '{"item":1}')
    assert.strictEqual((await world.place(key, '{"item":1}', { bearer: world.other })).text, first.text)
    assert.notStrictEqual((await world.place(key, '{"item":1}', { bearer: world.elsewhere })).text, first.text)
  })

  it("refusals of the operation are kept, and those before it are not", async () => {
    const [key, name] = [fresh(), fresh()]
    await world.register(fresh(), name)
    const taken = await world.register(key, name)
    assert.strictEqual(taken.status, 409)
    const again = await world.register(key, name)
    assert.deepStrictEqual([again.status, again.text, isReplay(again)], [409, taken.text, true])
    const wrong = await world.place(key, '{"other":1}')
    assert.deepStrictEqual([wrong.status, isReplay(await world.place(key, '{"other":1}'))], [400, false])
    assert.strictEqual((await world.place(key, '{"item":1}')).status, 201)
  })

  it("two activations of the kill switch with one key are one", async () => {
    const agent = await world.governor.agents.create({ name: fresh(), org_unit: "ops" })
    const body = JSON.stringify({ target_type: "agent", target_id: agent.id, reason: "It pays twice." })
    const activate = () => world.send(0, "/api/v1/bound/kill/activate", { "idempotency-key": agent.id }, body)
    const [one, two] = [await activate(), await activate()]
    assert.deepStrictEqual([two.text, isReplay(two)], [one.text, true])
    const events = await world.governor.kill.events({ limit: 100 })
    assert.lengthOf(
      events.filter(({ kind, target_id: target }) => kind === "kill.activated" && target === agent.id),
      1
    )
  })

  it("refuses keys that are none", async () => {
    for (const key of ["", '"', '"a', "a".repeat(256), "\u00e9"]) {
      const v1 = await world.place(key, '{"item":1}')
      const { error } = JSON.parse(v1.text)
      assert.deepStrictEqual([v1.status, error.code, error.param], [400, "invalid_request", "Idempotency-Key"], key)
      const governance = await world.register(key, fresh())
      assert.strictEqual(governance.status, 422)
      assert.deepStrictEqual(JSON.parse(governance.text).detail[0].loc, ["header", "Idempotency-Key"])
    }
    assert.strictEqual((await world.place("a".repeat(255), '{"item":1}')).status, 201)
  })
})

const codeOf = (text: string): string => {
  const body = JSON.parse(text)
  return body.error?.code ?? body.code
}
