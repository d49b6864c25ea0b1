/** Starting a throw-away Postgres on a free loopback port. */
import { execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { PostgresBinaries } from "./binaries.ts"
import { postgresBinaries } from "./binaries.ts"
import type { KeeperTask } from "./keeper.ts"

/** A server that tests may use. */
export interface RunningPostgres {
  /** `postgres://…` of a superuser; make databases with `freshDatabase`. */
  readonly url: string
  /** Ends the server and removes its data; does nothing to a server that was given. */
  readonly stop: () => Promise<void>
}

/** The user `nobody`: Postgres refuses to run as root. */
const nobody = 65_534

/** Tries with another port when somebody took ours between probing and starting. */
const portTries = 5

/**
 * Starts Postgres with fsync on, or answers the server in `FLYBALL_TEST_PG_URL`.
 *
 * The server does not outlive this process, however it ends: a keeper process watches a pipe and cleans up.
 *
 * - Fails: rejects with the server's last lines when it does not come up.
 */
export const startPostgres = async (): Promise<RunningPostgres> => {
  const given = process.env["FLYBALL_TEST_PG_URL"]
  if (given !== undefined && given !== "") return { url: given, stop: async () => {} }
  const binaries = await postgresBinaries()
  const folder = await mkdtemp(join(tmpdir(), "flyball-pg-"))
  try {
    const password = randomBytes(16).toString("hex")
    await initialise(binaries, folder, password)
    const { port, stop } = await launch(binaries, folder, portTries)
    return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop }
  } catch (cause) {
    await rm(folder, { recursive: true, force: true })
    throw cause
  }
}

/** A server that can become a standby. */
export interface DemotablePostgres extends RunningPostgres {
  /** Ends it at once, and starts it on the same data and address as a standby, whose primary is never reached. */
  readonly demote: () => Promise<void>
}

/**
 * Starts a Postgres of its own, also where `FLYBALL_TEST_PG_URL` names one.
 *
 * - Fails: as {@link startPostgres} does.
 */
export const startDemotablePostgres = async (): Promise<DemotablePostgres> => {
  const binaries = await postgresBinaries()
  const home = await mkdtemp(join(tmpdir(), "flyball-pg-"))
  const data = join(home, "data")
  /** Runs the server in a folder that goes with the run; the data stays. */
  const run = async (at?: number) => {
    const folder = await mkdtemp(join(tmpdir(), "flyball-pg-run-"))
    return launch(binaries, folder, at === undefined ? portTries : 1, { data, ...(at === undefined ? {} : { at }) })
  }
  try {
    const password = randomBytes(16).toString("hex")
    await initialise(binaries, home, password)
    let running = await run()
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${running.port}/postgres`,
      demote: async () => {
        await running.stop()
        await writeFile(join(data, "standby.signal"), "")
        running = await run(running.port)
      },
      stop: async () => {
        await running.stop()
        await rm(home, { recursive: true, force: true })
      }
    }
  } catch (cause) {
    await rm(home, { recursive: true, force: true })
    throw cause
  }
}

/** As root everything runs as nobody; else as ourselves. */
const runAs = (): { readonly uid?: number; readonly gid?: number } =>
  process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

/** Environment of the binaries: nothing of the host's settings. */
const environment = { LC_ALL: "C", TZ: "UTC", PATH: process.env["PATH"] ?? "" }

const initialise = async (binaries: PostgresBinaries, folder: string, password: string): Promise<void> => {
  const { uid, gid } = runAs()
  const passwordFile = join(folder, "password")
  await writeFile(passwordFile, password, { mode: 0o600 })
  await chmod(folder, 0o700)
  if (uid !== undefined && gid !== undefined) {
    await chown(folder, uid, gid)
    await chown(passwordFile, uid, gid)
  }
  await promisify(execFile)(
    binaries.initdb,
    [
      `--pgdata=${join(folder, "data")}`,
      "--username=postgres",
      "--encoding=UTF8",
      "--locale=C",
      "--auth=scram-sha-256",
      "--no-sync",
      `--pwfile=${passwordFile}`
    ],
    { ...runAs(), cwd: "/", env: environment }
  )
  await rm(passwordFile)
}

/** Starts a server on the data of a folder, which is removed when it ends. */
const launch = async (
  binaries: PostgresBinaries,
  folder: string,
  tries: number,
  { data = join(folder, "data"), at }: { readonly data?: string; readonly at?: number } = {}
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> => {
  const port = at ?? (await freePort())
  const task: KeeperTask = {
    command: binaries.postgres,
    args: [
      "-D",
      data,
      "-p",
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    ],
    folder,
    environment,
    ...runAs()
  }
  const keeper = spawn(
    process.execPath,
    [fileURLToPath(new URL("./keeper.ts", import.meta.url)), JSON.stringify(task)],
    {
      stdio: ["pipe", "pipe", "inherit"],
      // A group of its own: Ctrl-C reaches us, and we (or our end) reach it.
      detached: true,
      env: environment
    }
  )
  const ended = new Promise<void>((resolve) => keeper.once("exit", () => resolve()))
  const first = await new Promise<string>((resolve, reject) => {
    keeper.once("error", reject)
    createInterface(keeper.stdout)
      .once("line", resolve)
      .once("close", () => resolve("The keeper of Postgres ended."))
  })
  if (first !== "ready") {
    await ended
    if (tries > 1 && /could not (bind|create any TCP)/.test(first)) return launch(binaries, folder, tries - 1, { data })
    throw new Error(`Postgres did not start: ${first}`)
  }
  // A test process that forgets `stop` must still be able to end.
  keeper.unref()
  for (const stream of [keeper.stdin, keeper.stdout]) (stream as unknown as { unref: () => void }).unref()
  return {
    port,
    stop: async () => {
      keeper.ref()
      keeper.stdin.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** fsync and synchronous_commit stay on: what tests prove must hold where they are on. */
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "64MB",
  lc_messages: "C"
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        typeof address === "object" && address !== null
          ? resolve(address.port)
          : reject(new Error("No port on 127.0.0.1 was given."))
      )
    })
  })
