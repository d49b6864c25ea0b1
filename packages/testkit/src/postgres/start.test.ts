import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it, vi } from "vitest"
import { freshDatabase } from "./database.ts"
import { startPostgres } from "./start.ts"

const rows = (url: string, sql: string) =>
  PgConnection.make({ url: Redacted.make(url) }).pipe(
    Effect.flatMap((connection) => connection.query(sql, [], false)),
    Effect.map((result) => result.rows),
    Effect.scoped,
    Effect.runPromise
  )

const answers = async (url: string): Promise<boolean> => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  const [first] = await Promise.race([
    once(socket, "connect").then(() => ["connect"]),
    once(socket, "close").then(() => ["close"])
  ]).catch(() => ["close"])
  socket.destroy()
  return first === "connect"
}

/** Starts a server, says its address, and is killed before it can stop it. */
const killed = `
  import { startPostgres } from ${JSON.stringify(new URL("./start.ts", import.meta.url).href)}
  const { url } = await startPostgres()
  process.stdout.write(url, () => process.kill(process.pid, "SIGKILL"))
`

describe("Postgres for tests", () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it("starts a durable server on loopback only, and removes it when stopped", async () => {
    vi.stubEnv("FLYBALL_TEST_PG_URL", "")
    const { url, stop } = await startPostgres()
    const [row] = await rows(
      url,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commits,
        current_setting('listen_addresses') as addresses,
      current_setting('unix_socket_directories') as sockets, current_setting('server_encoding') as encoding,
        current_setting('data_directory') as folder`
    )
    assert.deepEqual(
      [row!["fsync"], row!["commits"], row!["addresses"], row!["sockets"], row!["encoding"]],
      ["on", "on", "127.0.0.1", "", "UTF8"]
    )
    assert.strictEqual(new URL(url).hostname, "127.0.0.1")
    await stop()
    assert.isFalse(await answers(url))
  })

  it("does not outlive a process that was killed", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", killed], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, FLYBALL_TEST_PG_URL: "" }
    })
    let url = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      url += text
    })
    child.stderr.resume()
    // The keeper shares the child's error stream: it closes when the keeper has ended too.
    await once(child, "close")
    assert.match(url, /^postgres:\/\//)
    assert.isFalse(await answers(url))
  })

  it("uses the server of FLYBALL_TEST_PG_URL, and does not stop it", async () => {
    vi.stubEnv("FLYBALL_TEST_PG_URL", "postgres://somewhere.test/db")
    const { url, stop } = await startPostgres()
    assert.strictEqual(url, "postgres://somewhere.test/db")
    await stop()
  })

  it("creates empty, separate databases", async () => {
    const server = await startPostgres()
    const [one, two] = await Promise.all([freshDatabase(server.url), freshDatabase(server.url)])
    await rows(one.url, "create table marks (n int)")
    assert.deepEqual(
      (await rows(two.url, "select to_regclass('marks') is null as absent")).map((row) => row["absent"]),
      [true]
    )
    await one.drop()
    const [left] = await rows(
      server.url,
      `select count(*)::int as n from pg_database where datname = '${new URL(one.url).pathname.slice(1)}'`
    )
    assert.strictEqual(left!["n"], 0)
    await two.drop()
    await server.stop()
  })
})
