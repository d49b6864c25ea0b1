/** Three servers on one Postgres while one is killed, again and again; and a second server on one SQLite file. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { freshDatabase } from "@flyball/testkit/postgres"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { audit } from "../audit/audit.ts"
import { Book } from "../audit/book.ts"
import { type Callers, registerAgent, witness } from "./callers.ts"
import { killedServers } from "./killed-servers.ts"
import { adminToken, flyball, type ServerProcess, startServer } from "./server-process.ts"
import { runs } from "../runs.ts"

const KILLS = runs(1, 4)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-servers-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("three servers on one Postgres", () => {
  it(`neither lose nor duplicate records while one is killed, times: ${KILLS}`, { timeout: 300_000 }, async () => {
    const { drop, url } = await freshDatabase(process.env["FLYBALL_TEST_PG_URL"]!)
    try {
      const { acknowledged, again, checkpoints, guardStates } = await killedServers({
        databaseUrl: url,
        dataDir: join(folder, "data"),
        servers: 3,
        callers: 9,
        kills: KILLS,
        seed: 1
      })
      assert.isAbove(acknowledged, 9 * KILLS)
      assert.isAbove(again, 0)
      assert.isAbove(checkpoints, KILLS)
      assert.isAtLeast(guardStates, KILLS)
    } finally {
      await drop()
    }
  })
})

describe("a second server on one SQLite file", () => {
  it(
    "is refused with a sentence while the first runs, and can start at once after the first is killed",
    { timeout: 120_000 },
    async () => {
      const variables = { FLYBALL_DATA_DIR: join(folder, "data"), FLYBALL_LOG_LEVEL: "warn" }
      const book = new Book()
      let server: ServerProcess = await startServer(variables)
      try {
        let serving = true
        const callers: Callers = {
          book,
          token: await adminToken(variables),
          server: () => server.url,
          goesOn: () => true,
          refused: ({ body, status }, what) => assert.fail(`${what}: ${status} ${JSON.stringify(body)}`),
          broken: () => (serving ? assert.fail("the first server broke a connection") : undefined)
        }
        const agentId = await registerAgent(callers, "bot")
        const goOn = async (name: string, enough: () => boolean): Promise<void> => {
          for (let index = 0; !enough(); index++) await witness(callers, agentId, [`${name}/${index}`])
        }
        let tried = false
        const seconds = Promise.all([1, 2].map(() => flyball(["serve"], variables))).finally(() => {
          tried = true
        })
        await goOn("beside", () => tried)
        assert.isAbove(book.witnessed.size, 10)
        for (const { err, out, status } of await seconds) {
          assert.deepEqual([status, out], [1, ""])
          assert.match(
            err,
            new RegExp(
              /^flyball serve: another process writes \S+flyball\.db, probably a running /.source +
                /flyball serve\. Stop it first: [^\n]+\n$/.source
            )
          )
        }
        serving = false
        await server.stop("SIGKILL")
        // One start, no second try.
        server = await startServer(variables)
        serving = true
        const before = book.witnessed.size
        await goOn("after", () => book.witnessed.size >= before + 10)
        assert.strictEqual((await server.stop("SIGTERM")).status, 0)
        const { records } = await audit(book, {
          storage: sqliteStorage({ file: join(folder, "data", "flyball.db") }),
          keys: dataFolder({ dir: join(folder, "data") }),
          where: "afterwards",
          pack: true
        })
        assert.isAbove(records, 20)
      } finally {
        await server.stop("SIGKILL")
      }
    }
  )
})
