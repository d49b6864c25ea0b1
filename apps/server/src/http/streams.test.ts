/** Answers that come in pieces: their pace, their end, their names. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Packs, StorageUnavailable } from "@flyball/core"
import { Context, Deferred, Effect } from "effect"
import { assert, describe, it } from "vitest"
import type { World } from "./http-world.ts"
import { givenServers } from "./testing/given-servers.ts"
import { rawConnection } from "./testing/raw-client.ts"

const { beside, opened } = givenServers()

/** Chunks of 64 KiB that the stream under test could make: many times what sockets hold. */
const SOURCE_CHUNKS = 2_000

describe("streams", () => {
  const streaming = (world: World, chunks: (made: { count: number; closed: boolean }) => AsyncIterable<Uint8Array>) => {
    const made = { count: 0, closed: false }
    return Effect.runPromise(
      Effect.promise(async () => ({
        made,
        ...(await beside(world, (context) => {
          const packs = Context.get(context, Packs)
          return Context.add(context, Packs, { ...packs, build: () => Effect.succeed(chunks(made)) })
        }))
      }))
    )
  }
  const packOf = async (world: World): Promise<string> =>
    `/api/v1/evidence/packs/${
      (await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "full" } })).json.id
    }`

  it("wait for a slow reader, and stop when it leaves", async () => {
    const world = await opened()
    const { log, made, nextLog, port } = await streaming(world, async function* (made) {
      try {
        // It ends, so that a server that does not wait fails this test instead of filling the machine's memory.
        while (made.count < SOURCE_CHUNKS) {
          made.count++
          yield new Uint8Array(65_536)
        }
      } finally {
        made.closed = true
      }
    })
    const { socket, until } = await rawConnection(
      port,
      `GET ${await packOf(world)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`
    )
    await until((text) => text.length > 200_000)
    socket.pause()
    const logged = nextLog()
    socket.destroy()
    await logged
    assert.strictEqual(log[0]!.status, 0)
    assert.isTrue(made.closed)
    assert.isBelow(made.count, SOURCE_CHUNKS / 2)
  })

  it("cut a reader that takes nothing any more", async () => {
    const world = await opened()
    const closed = Deferred.makeUnsafe<void>()
    const chunks = async function* () {
      try {
        for (let count = 0; count < SOURCE_CHUNKS; count++) yield new Uint8Array(65_536)
      } finally {
        await Effect.runPromise(Deferred.succeed(closed, undefined))
      }
    }
    const { port } = await beside(
      world,
      (context) =>
        Context.add(context, Packs, { ...Context.get(context, Packs), build: () => Effect.succeed(chunks()) }),
      { stallMs: 20 }
    )
    const { socket, until } = await rawConnection(
      port,
      `GET ${await packOf(world)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.admin}\r\n\r\n`
    )
    await until((text) => text.length > 100_000)
    socket.pause()
    await Effect.runPromise(Deferred.await(closed))
    socket.destroy()
  })

  it("are read by HEAD without a trace, and a person has a pseudonym only once a pack was read", async () => {
    const world = await opened()
    const path = await packOf(world)
    const visitor = await world.token("auditor", "*", "new here")
    const before = await world.size()
    assert.strictEqual((await world.send("HEAD", path, { token: visitor })).status, 200)
    assert.strictEqual(await world.size(), before)
    await world.send("GET", path, { token: visitor })
    assert.strictEqual(await world.size(), before + 2, "principal.seen and evidence.exported")
    await world.send("GET", path, { token: await world.token("auditor", "*", "second") })
    assert.strictEqual(await world.size(), before + 2, "reading again leaves no record")
  })

  it("that fail before the first byte are a proper answer, later they are cut", async () => {
    const world = await opened()
    const early = await streaming(world, async function* () {
      throw new StorageUnavailable({ reason: "gone", wrote: "no" })
    })
    assert.strictEqual((await early.get(await packOf(world))).status, 503)
    const seen = Deferred.makeUnsafe<void>()
    const late = await streaming(world, async function* () {
      yield new Uint8Array(10)
      await Effect.runPromise(Deferred.await(seen))
      throw new StorageUnavailable({ reason: "gone", wrote: "no" })
    })
    const got = await late.get(await packOf(world))
    assert.strictEqual(got.status, 200)
    await Effect.runPromise(Deferred.succeed(seen, undefined))
    let failed = false
    await got.arrayBuffer().catch(() => (failed = true))
    assert.isTrue(failed)
    assert.strictEqual(late.log[0]!.status, 0)
    assert.include(late.log[0]!.problem, "gone")
  })

  it("a pack has a name to be saved under", async () => {
    const world = await opened()
    const path = await packOf(world)
    const got = await world.send("GET", path, { token: world.admin })
    assert.strictEqual(got.headers.get("content-type"), "application/vnd.flyball.evidence-pack")
    assert.strictEqual(got.headers.get("content-disposition"), `attachment; filename="${path.split("/").at(-1)}.evp"`)
    assert.strictEqual((await world.send("HEAD", path, { token: world.admin })).text, "")
  })

  it("records come one per line on request", async () => {
    const { admin, send } = await opened()
    const lines = await send("GET", "/api/v1/chain/records?limit=3", {
      token: admin,
      headers: { accept: "application/x-ndjson" }
    })
    const array = await send("GET", "/api/v1/chain/records?limit=3", { token: admin })
    assert.strictEqual(lines.headers.get("content-type"), "application/x-ndjson")
    const preferred = await send("GET", "/api/v1/chain/records?limit=3", {
      token: admin,
      headers: { accept: "application/json, application/x-ndjson;q=0.5" }
    })
    assert.strictEqual(preferred.headers.get("content-type"), "application/json")
    assert.deepStrictEqual(
      lines.text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
      array.json
    )
    const one = await send("GET", "/api/v1/chain/records/1", { token: admin })
    assert.strictEqual(`${one.text}\n`, `${lines.text.split("\n")[1]}\n`)
  })
})
