/**
 * Webhooks of three servers on one Postgres, one of them killed while it sends: nothing is lost, nothing is sent an
 * eighth time, and every receiver can tell what it has.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { givenDatabase, type OpenDatabase, openDatabase } from "@flyball/testkit/postgres"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { adminToken, flyball, type ServerProcess, startServer, type Variables } from "./server-process.ts"
import { type Receiver, startReceivers } from "./receivers.ts"

/** Webhooks that take everything, once they answer. */
const WELL = 9
const AGENTS = 40
/** Deliveries to one receiver that are under way at once. */
const PLACES = 4
/** Longer than the longest delay of the schedule. */
const TWO_DAYS_MS = 172_800_000
/** For whatever must come about by itself on a busy machine. */
const FACT_MS = 60_000
/** Nothing moved for this long: every server polled the store meanwhile. */
const STILL_MS = 2_000
const POLL_MS = 200

let folder: string
const database = givenDatabase({ beforeAll: beforeEach, afterAll: afterEach })
let sql: OpenDatabase
let variables: Variables
let servers: ReadonlyArray<ServerProcess>
let admin: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyball-webhooks-"))
  variables = {
    FLYBALL_DATA_DIR: join(folder, "data"),
    FLYBALL_DATABASE_URL: database.url,
    FLYBALL_LOG_LEVEL: "error",
    FLYBALL_EGRESS_ALLOW: "127.0.0.1",
    FLYBALL_EGRESS_HTTP: "1"
  }
  const first = await startServer(variables)
  servers = [first, ...(await Promise.all([1, 2].map(() => startServer(variables))))]
  admin = await adminToken(variables)
  sql = await openDatabase(database.url)
}, 120_000)
afterEach(async () => {
  await Promise.all(servers.filter((server) => server.runs()).map((server) => server.stop("SIGKILL")))
  await sql.close()
  rmSync(folder, { recursive: true, force: true })
})

// oxlint-disable-next-line no-explicit-any
const call = async (server: ServerProcess, method: string, path: string, body?: unknown): Promise<any> => {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  assert.isBelow(response.status, 300, `${method} ${path}: ${text}`)
  return JSON.parse(text)
}

const until = async (fact: () => boolean | Promise<boolean>, otherwise: () => string): Promise<void> => {
  for (const end = performance.now() + FACT_MS; !(await fact());) {
    if (performance.now() > end) assert.fail(otherwise())
    await pause(20)
  }
}

/** How the deliveries stand: counts by state. */
const states = async (): Promise<{ readonly [state: number]: number }> =>
  Object.fromEntries(
    (
      await sql.ask(`select case when f.attempt is null then d.state else 1 end as state, count(*)::int as n
    from flyball.deliveries d left join flyball.in_flight f on f.delivery_id = d.id group by 1`)
    ).map(({ n, state }) => [Number(state), Number(n)])
  )
const PENDING = 0
const IN_FLIGHT = 1

/**
 * Waits until the servers that are left did all that they can, while what was claimed by the one that was killed is
 * held until its lease ends.
 */
const quiet = async (): Promise<void> => {
  let [before, sinceMs] = ["", performance.now()]
  await until(
    async () => {
      await pause(POLL_MS)
      const now = JSON.stringify([
        await sql.ask(
          "select state, count(*)::int, sum(attempts)::int from flyball.deliveries group by state order by state"
        ),
        await sql.ask("select count(*)::int, sum(attempt)::int from flyball.in_flight")
      ])
      if (now !== before) [before, sinceMs] = [now, performance.now()]
      return performance.now() - sinceMs > STILL_MS
    },
    () => "the servers do not come to rest"
  )
}

/**
 * Waits until nothing is due and nothing under way: a fact of the store, so its duration does not matter. Not while a
 * killed server holds some of it.
 */
const done = (): Promise<void> =>
  until(
    async () => {
      const [left] = await sql.ask(
        "select (select count(*) from flyball.in_flight)::int + (select count(*) from flyball.pending where " +
          "next_at_ms <= flyball.flyball_now())::int as n"
      )
      return Number(left!["n"]) === 0
    },
    () => "the servers do not come to rest"
  )

/** Lets two days pass for everything that is owed: what waits is due, and a killed server is gone for good. */
const twoDaysPass = async (): Promise<void> => {
  await sql.ask("update flyball.attempts set started_at_ms = started_at_ms - $1, ended_at_ms = ended_at_ms - $1", [
    TWO_DAYS_MS
  ])
  await sql.ask(
    "update flyball.in_flight set started_at_ms = started_at_ms - $1, lease_until_ms = lease_until_ms - $1",
    [TWO_DAYS_MS]
  )
  // What waits is in two places that say the same: a store would see a difference.
  await sql.ask(
    `with d as (update flyball.deliveries set created_at_ms = created_at_ms - $1, next_at_ms = next_at_ms - $1)
    update flyball.pending set created_at_ms = created_at_ms - $1, next_at_ms = next_at_ms - $1`,
    [TWO_DAYS_MS]
  )
}

describe("three servers on one Postgres", () => {
  it("deliver every event to every receiver, although one of them is killed", { timeout: 240_000 }, async () => {
    const receivers = await startReceivers(WELL + 1)
    try {
      const away = receivers[WELL]!
      for (const receiver of receivers) receiver.answer = "hold"
      away.answer = 500
      const webhooks: Array<{ readonly id: string; readonly receiver: Receiver }> = []
      for (const [index, receiver] of receivers.entries())
        webhooks.push({
          id: (
            await call(servers[index % 3]!, "POST", "/webhooks", { url: receiver.url, events: ["agent.registered"] })
          ).id,
          receiver
        })

      const agent = (server: ServerProcess, index: number) =>
        call(server, "POST", "/agents", { name: `agent ${index}`, org_unit: "ops" })
      // The server that commits sends at once, and the others poll a second later: so the one that will be killed has
      // all places of most receivers, four each.
      await Promise.all(Array.from({ length: PLACES }, (_, index) => agent(servers[0]!, index)))
      await Promise.all(
        Array.from({ length: AGENTS - PLACES }, (_, index) => agent(servers[1 + (index % 2)]!, PLACES + index))
      )
      const well = receivers.slice(0, WELL)
      const open = (): number => well.reduce((sum, receiver) => sum + receiver.held(), 0)
      // None of them is answered.
      await until(
        () => open() >= 2 * WELL,
        () => `only ${open()} requests are open`
      )
      await servers[0]!.stop("SIGKILL")
      const hungUp = (): number => well.flatMap(({ requests }) => requests).filter((request) => request.hungUp).length
      await until(
        () => hungUp() > 0,
        () => "the server that was killed was sending nothing"
      )
      for (const receiver of well) receiver.release(200)

      for (let round = 0; round < 8; round++) {
        await (round === 0 ? quiet() : done())
        const now = await states()
        if ((now[PENDING] ?? 0) === 0 && (now[IN_FLIGHT] ?? 0) === 0) break
        await twoDaysPass()
      }
      const left = await states()
      assert.deepStrictEqual([left[PENDING] ?? 0, left[IN_FLIGHT] ?? 0], [0, 0], "nothing is owed any more")

      let crashed = 0
      for (const { id, receiver } of webhooks) {
        const deliveries = (await call(servers[1]!, "GET", `/webhooks/${id}/deliveries?limit=1000`)) as ReadonlyArray<{
          readonly id: string
          readonly event_id: string
          readonly sequence: number
          readonly state: string
          readonly attempts: ReadonlyArray<{ readonly error: string | null }>
        }>
        assert.deepStrictEqual(
          deliveries.map(({ sequence }) => sequence),
          Array.from({ length: AGENTS }, (_, index) => AGENTS - index),
          "a sequence without a gap"
        )
        assert.strictEqual(new Set(deliveries.map(({ event_id }) => event_id)).size, AGENTS)
        for (const delivery of deliveries) {
          const requests = receiver.requests.filter((request) => request.deliveryId === delivery.id)
          const attempts = requests.map(({ attempt }) => attempt)
          assert.isAtMost(delivery.attempts.length, 7)
          assert.strictEqual(new Set(attempts).size, attempts.length, "no attempt is sent twice")
          assert.isTrue(attempts.every((attempt) => attempt >= 1 && attempt <= delivery.attempts.length))
          for (const { eventId, sequence } of requests)
            assert.deepStrictEqual([eventId, sequence], [delivery.event_id, delivery.sequence])
          if (receiver === away) continue
          assert.strictEqual(delivery.state, "succeeded")
          assert.deepStrictEqual(
            requests.map(({ answered }) => answered).filter((status) => status !== null),
            [200],
            "taken once"
          )
          crashed += delivery.attempts.filter(({ error }) => error === "crashed").length
        }
      }
      assert.isAtLeast(crashed, 1)
      assert.strictEqual((await call(servers[1]!, "GET", `/webhooks/${webhooks[WELL]!.id}`)).status, "failed")
      assert.isAbove(Math.max(...away.requests.map(({ attempt }) => attempt)), 6)

      await Promise.all(servers.slice(1).map((server) => server.stop("SIGTERM")))
      const checked = await flyball(["check"], variables)
      assert.strictEqual(checked.status, 0, checked.err)
    } finally {
      await Promise.all(receivers.map(({ close }) => close()))
    }
  })
})
