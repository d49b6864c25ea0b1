/**
 * The kill switch over HTTP: polls that are answered 304, in requests a second of processor time, and the time from an
 * activation until the last of many streams has it, each against bare node:http.
 */
import { spawn } from "node:child_process"
import { get, type IncomingMessage } from "node:http"
import { alternateTimes, type Benchmark, figure, type Line } from "./harness.ts"
import { besideBare, CONNECTIONS, Connections, processorMs, release, type Request } from "./server-process.ts"

const POLLS = 8_000
const WARM_UP = 64_000
const POLL_ROUNDS = 7
const READERS = 100
const STREAM_ROUNDS = 31

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "kill",
  about:
    `${POLL_ROUNDS} rounds of ${POLLS} polls with a known ETag over ${CONNECTIONS} connections, in requests a second ` +
    `of the server's processor time, and ${STREAM_ROUNDS} activations until the last of ${READERS} streams has them, ` +
    "each in turn with bare node:http",
  run: async () => {
    if (process.platform !== "linux") throw new Error("this benchmark reads /proc, so it runs on Linux only")
    return besideBare("./bare-kill.ts", async ({ agent, bare, folder, key, server }) => {
      const target = `target_type=agent&target_id=${agent.id}`
      const admin = await tokenOf(folder)
      return [
        await polls({ bare, server, path: `/api/v1/bound/kill/status?${target}`, key }),
        await streams({ bare: bare.port, server: server.port, agentId: agent.id, target, key, admin })
      ]
    })
  }
}

const tokenOf = (folder: string): Promise<string> =>
  new Promise((resolve) => {
    const env = { ...process.env, FLYBALL_DATA_DIR: folder, FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db` }
    const child = spawn(release("flyball"), ["token", "--role", "admin"], { env, stdio: ["ignore", "pipe", "inherit"] })
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
  })

const polls = async ({
  bare,
  key,
  path,
  server
}: {
  readonly bare: { readonly port: number; readonly pid: number }
  readonly server: { readonly port: number; readonly pid: number }
  readonly path: string
  readonly key: string
}): Promise<Line> => {
  const authorization = `Bearer ${key}`
  const etagOf = async (port: number, at: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${at}`, { headers: { authorization } })
    const etag = response.headers.get("etag")
    if (response.status !== 200 || etag === null) throw new Error(`${at} answered ${response.status}, ETag ${etag}`)
    return etag
  }
  const spending = async (to: { readonly port: number; readonly pid: number }, at: string) => {
    const connections = new Connections({
      port: to.port,
      headers: { authorization, "if-none-match": await etagOf(to.port, at) },
      expects: 304
    })
    const load = (count: number) =>
      connections.load(Array.from({ length: count }, (): Request => ({ method: "GET", path: at, body: null })))
    await load(WARM_UP)
    return {
      close: () => connections.close(),
      round: async (): Promise<number> => {
        const before = processorMs(to.pid)
        await load(POLLS)
        return processorMs(to.pid) - before
      }
    }
  }
  const [limit, subject] = [await spending(bare, "/status"), await spending(server, path)]
  const { limitMs, ratio, subjectMs } = await alternateTimes(POLL_ROUNDS, limit.round, subject.round)
  limit.close()
  subject.close()
  const rate = (ms: number): number => figure((POLLS / ms) * 1_000)
  return {
    name: "kill.status_304",
    value: rate(subjectMs),
    unit: "requests/s of processor time",
    limit: rate(limitMs),
    ratio: figure(ratio),
    goal: "none",
    met: true
  }
}

/** Open streams, and a wait until each has had one more event. */
class Readers {
  readonly #responses: Array<IncomingMessage> = []
  #awaited = 0
  #all: () => void = () => {}

  async open(port: number, path: string, headers: { readonly [name: string]: string }): Promise<void> {
    await Promise.all(
      Array.from(
        { length: READERS },
        () =>
          new Promise<void>((resolve, reject) => {
            get({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
              if (response.statusCode !== 200) return reject(new Error(`${path} answered ${response.statusCode}`))
              this.#responses.push(response)
              response.once("data", () => {
                response.on("data", (chunk: Buffer) => {
                  if (chunk.includes("event: kill") && --this.#awaited === 0) this.#all()
                })
                resolve()
              })
            }).once("error", reject)
          })
      )
    )
  }

  /** Resolves when every stream has had an event after this call. */
  next(): Promise<void> {
    this.#awaited = READERS
    return new Promise((resolve) => {
      this.#all = resolve
    })
  }

  close(): void {
    for (const response of this.#responses) response.destroy()
  }
}

const streams = async ({
  admin,
  agentId,
  bare,
  key,
  server,
  target
}: {
  readonly bare: number
  readonly server: number
  readonly agentId: string
  readonly target: string
  readonly key: string
  readonly admin: string
}): Promise<Line> => {
  const [theirs, ours] = [new Readers(), new Readers()]
  await theirs.open(bare, "/stream", {})
  await ours.open(server, `/api/v1/bound/kill/stream?${target}`, { authorization: `Bearer ${key}` })
  const post = async (port: number, path: string, body: unknown): Promise<any> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const timed = async (readers: Readers, act: () => Promise<unknown>): Promise<number> => {
    const all = readers.next()
    const startedAt = performance.now()
    const done = act()
    await all
    const elapsed = performance.now() - startedAt
    await done
    return elapsed
  }
  const activation = { target_type: "agent", target_id: agentId, response: "halt", reason: "A benchmark." }
  const limit = (): Promise<number> => timed(theirs, () => post(bare, "/activate", activation))
  const subject = async (): Promise<number> => {
    let id = ""
    const elapsed = await timed(ours, async () => {
      id = (await post(server, "/api/v1/bound/kill/activate", activation)).activation_event
    })
    const released = ours.next()
    await post(server, "/api/v1/bound/kill/release", { activation_event: id, reason: "A benchmark." })
    await released
    return elapsed
  }
  const { limitMs, ratio, subjectMs } = await alternateTimes(STREAM_ROUNDS, limit, subject)
  theirs.close()
  ours.close()
  return {
    name: "kill.stream",
    value: figure(subjectMs),
    unit: "ms to the last stream",
    limit: figure(limitMs),
    ratio: figure(ratio),
    goal: "none",
    met: true
  }
}
