/**
 * Servers that a test opens and that are closed after it: whole ones, and ones beside them in which some services are
 * others.
 */
import { Chain, type StorageCorrupt, type StorageUnavailable } from "@flyball/core"
import type { RequestLog, Services, TokenVerifier } from "@flyball/http/server"
import { Context, type Effect } from "effect"
import { afterEach } from "vitest"
import { openWorld, type World } from "../http-world.ts"
import { makeServer, type ServerTimes } from "../server.ts"

/** Servers for the tests of one file; those of a test are closed after it. */
export const givenServers = () => {
  const open: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const close of open.splice(0)) await close()
  })

  const opened = async (...args: Parameters<typeof openWorld>): Promise<World> => {
    const world = await openWorld(...args)
    open.push(world.close)
    return world
  }

  /** A second server over the same governor, in which some services are others; and who vouches for people, perhaps. */
  const beside = async (
    world: World,
    change: (context: Context.Context<Services>) => Context.Context<Services>,
    times: Partial<ServerTimes> = {},
    verifier: TokenVerifier = world.issuer
  ) => {
    const log: Array<RequestLog> = []
    const logged: Array<() => void> = []
    const server = makeServer({
      context: change(world.context),
      verifier,
      version: "0.0.0-test",
      times,
      log: (entry) => {
        log.push(entry)
        logged.splice(0).forEach((wake) => wake())
      }
    })
    const { port, url } = await server.listen({ host: "127.0.0.1", port: 0 })
    open.push(server.close)
    const get = (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${world.admin}` } })
    const nextLog = () => new Promise<void>((resolve) => logged.push(resolve))
    return { server, port, url, get, log, nextLog }
  }

  /** One beside `world` whose chain answers this for its head. */
  const withHead = (world: World, head: Effect.Effect<never, StorageUnavailable | StorageCorrupt>) =>
    beside(world, (context) => Context.add(context, Chain, { ...Context.get(context, Chain), head }))

  return { opened, beside, withHead }
}
