import * as http from "node:http"
import { afterEach, expect, test } from "vitest"
import { closeAll, sending } from "../testing/sending.ts"
import { PeerNotVetted, pinnedAgents, pinTo } from "./pinned-agents.ts"

const { opened, receiver } = sending("")
afterEach(closeAll(opened))

const get = (options: http.RequestOptions): Promise<string> =>
  new Promise((resolve, reject) =>
    http
      .get(options, (answer) => answer.resume().on("end", () => setImmediate(() => resolve("ok"))))
      .on("error", reject)
  )

test("a request without a pin is not made", async () => {
  const there = await receiver((_, response) => response.end())
  const agents = pinnedAgents(undefined)
  expect(() => http.get({ host: "127.0.0.1", port: there.port, agent: agents.http })).toThrow(/carries a pin/)
  expect(() => agents.https.getName({ host: "a.example" })).toThrow(/carries a pin/)
  expect(there.connections()).toBe(0)
})

test("what is kept is found under its pin, and closing ends it", async () => {
  const there = await receiver((_, response) => response.end())
  const agents = pinnedAgents(undefined)
  await get({ host: "a.example", port: there.port, agent: agents.http, lookup: pinTo(["127.0.0.1"]).lookup })
  const kept = Object.values(agents.http.sockets).flatMap((sockets) => sockets ?? [])
  expect([kept.length, kept[0]!.destroyed]).toEqual([1, false])
  agents.close()
  expect(kept[0]!.destroyed).toBe(true)
})

test("the other end is compared in any spelling", async () => {
  const there = await receiver((_, response) => response.end())
  const agents = pinnedAgents(undefined)
  opened.push(agents.close)
  await get({ host: "a.example", port: there.port, agent: agents.http, lookup: pinTo(["::ffff:127.0.0.1"]).lookup })
  const socket = Object.values(agents.http.sockets)[0]![0]!
  expect(() => pinTo(["127.0.0.1"]).check(socket)).not.toThrow()
  expect(() => pinTo(["127.0.0.2", "::1"]).check(socket)).toThrow(PeerNotVetted)
})
