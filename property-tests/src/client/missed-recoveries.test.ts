/** A client that was cut off while its server was recovered twice, and the chains of real stores. */
import { type Client, openClient } from "@flyball/client"
import type { GenesisOut } from "@flyball/contract"
import { Chain, Checkpointer } from "@flyball/core"
import { fromBase64, parsePrevious } from "@flyball/evidence"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect } from "effect"
import { mkdtempSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { manualClock, settled } from "../../../packages/client/src/testing/manual-clock.ts"
import { bounded, refund } from "../../../packages/testkit/src/recovery/bounded-site.ts"
import { putBack, recovered, session, siteOf } from "../../../packages/testkit/src/recovery/recovery-world.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-missed-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = join(folder, "store.db")
const site = siteOf(sqliteStorage({ file }))

/** Answers of GET /chain/genesis, as the service of the store gives them: for the chain that runs, and for others. */
const genesesOf = (...chains: ReadonlyArray<string>) =>
  Effect.runPromise(
    session(
      site,
      Effect.gen(function* () {
        yield* (yield* Checkpointer).now
        const chain = yield* Chain
        const running = yield* chain.genesis()
        const others = yield* Effect.forEach(chains, (name) =>
          chain.genesis(name).pipe(Effect.catchTag("ChainNotFound", () => Effect.succeed(null)))
        )
        const previous = parsePrevious(fromBase64(running.previous?.bytes ?? "")!)?.origin ?? null
        return { running, previous, others }
      })
    )
  )

/** Recovers the store from a copy that is older than what was signed. */
const recover = (agentId: string, amount: number) =>
  Effect.runPromise(
    Effect.gen(function* () {
      yield* session(site, refund(agentId, amount))
      putBack(site, 1)
      yield* recovered(site)
      yield* session(site, refund(agentId, amount))
    })
  )

describe("a client that missed two recoveries", { timeout: 60_000 }, () => {
  it("continues by itself, and reports a missing retired store", async () => {
    const { agentId } = await Effect.runPromise(bounded(site))
    const before = await genesesOf("flyball.test/other")
    assert.deepStrictEqual(before.others, [null])
    let shown: { readonly running: GenesisOut; readonly others: ReadonlyArray<GenesisOut | null> } = before
    const status = { halted: false, drill: false, activation_event: null, effective_response: null, epoch: 5 }
    const fetch = (async (input) => {
      const url = new URL(String(input))
      const { origin } = shown.running
      if (url.pathname.endsWith("/agents")) return Response.json([{ id: agentId, name: "bot" }])
      if (url.pathname.endsWith("/kill/status"))
        return Response.json({ ...status, ...Object.fromEntries(url.searchParams), origin })
      if (!url.pathname.endsWith("/genesis")) return new Response(null, { status: 503 })
      const chain = url.searchParams.get("chain")
      const found = chain === null ? shown.running : shown.others.find((one) => one?.origin === chain)
      return Response.json(found ?? null, { status: found == null ? 404 : 200 })
    }) as typeof globalThis.fetch
    const opened: Array<Client> = []
    /** An agent that learned who signs for the chain of now. */
    const learned = async () => {
      const client = openClient({ url: "http://flyball.test", key: "k", fetch, clock: manualClock() })
      opened.push(client)
      const agent = await client.register({ name: "bot" })
      await settled()
      return agent
    }
    const [first, second] = [await learned(), await learned()]
    for (const amount of [1_000, 2_000]) await recover(agentId, amount)
    const { previous } = await genesesOf()
    shown = await genesesOf(previous!)
    const old = before.running.origin
    const { origin } = shown.running
    assert.lengthOf(new Set([old, previous, origin]), 3)
    await first.kill.refresh()
    assert.isNull(first.kill.trouble())
    assert.deepInclude(first.kill.view(), { origin, epoch: 5 })
    assert.isNull(first.kill.denial("side_effect"))

    renameSync(`${file}.retired-2`, join(folder, "elsewhere.db"))
    shown = await genesesOf(previous!)
    assert.deepStrictEqual(shown.others, [null])
    await second.kill.refresh()
    assert.strictEqual(second.kill.view().origin, old)
    assert.include(second.kill.trouble()!, `no signed first record of ${previous}, which is between the two`)
    await Promise.all(opened.map((client) => client.close()))
  })
})
