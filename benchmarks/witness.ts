/** Witnessing over HTTP, durable, against bare node:http with the same inserts: batches of 100, and single decisions at 64 connections. Design section 6. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { decisionsFrom } from "./decisions.ts"
import { alternate, type Benchmark, figure, type Line } from "./harness.ts"

const CONNECTIONS = 64
const ROUNDS = 5

interface Target {
  readonly path: string
  readonly port: number
  readonly headers: { readonly [name: string]: string }
  readonly stop: () => Promise<unknown>
}

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const start = async (args: ReadonlyArray<string>, environment: { readonly [name: string]: string }): Promise<{ readonly port: number; readonly stop: () => Promise<unknown> }> => {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] })
  const closed = new Promise((resolve) => child.once("close", resolve))
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const found = /:(\d+)\/?$/.exec(line)
      if (found !== null) resolve(Number(found[1]))
    })
    closed.then(() => reject(new Error("a server ended before it was ready")), reject)
  })
  return { port, stop: () => (child.kill("SIGTERM"), closed) }
}

const post = (agent: Agent, target: Target, body: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request({ agent, host: "127.0.0.1", port: target.port, path: target.path, method: "POST", headers: { ...target.headers, "content-type": "application/json", "content-length": body.length } }, (response) => {
      response.resume()
      response.once("end", () => response.statusCode === 201 ? resolve() : reject(new Error(`${target.path} answered ${response.statusCode}`)))
    })
    sent.once("error", reject)
    sent.end(body)
  })

const load = async (target: Target, bodies: ReadonlyArray<Uint8Array>): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  let next = 0
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (next < bodies.length) await post(agent, target, bodies[next++]!)
  }))
  agent.destroy()
}

const flyball = async (folder: string): Promise<Target> => {
  const environment = { FLYBALL_DATA_DIR: folder, FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db`, FLYBALL_PORT: "0", FLYBALL_LOG_LEVEL: "silent" }
  const main = file("../apps/server/src/main.ts")
  const server = await start([main, "serve"], environment)
  const call = async (path: string, token: string, body: unknown): Promise<any> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, body: JSON.stringify(body) })
    return response.json()
  }
  const token = await new Promise<string>((resolve) => {
    const child = spawn(process.execPath, [main, "token", "--role", "admin"], { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] })
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
  })
  const { key } = await call("/api/v1/admin/ingest-keys", token, { name: "bench", org_unit: "bench" })
  const { id } = await call("/api/v1/agents", key, { name: "bench" })
  return { ...server, path: `/api/v1/agents/${id}/decisions`, headers: { authorization: `Bearer ${key}` } }
}

const bodiesOf = (requests: number, size: number) => {
  let made = 0
  return (): ReadonlyArray<Uint8Array> => Array.from({ length: requests }, () => {
    const decisions = decisionsFrom(made, size)
    made += size
    return Buffer.from(JSON.stringify(size === 1 ? decisions[0] : { decisions }))
  })
}

const measure = async (name: string, requests: number, size: number, goal: number): Promise<Line> => {
  const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
  const subject = await flyball(folder)
  const limit: Target = { ...await start([file("./bare-server.ts"), join(folder, "bare.db")], {}), path: "/", headers: {} }
  try {
    const subjectBodies = bodiesOf(requests, size)
    const limitBodies = bodiesOf(requests, size)
    // All bodies are made before the clock starts: one set a round, and one for the warm-up.
    const forLimit = Array.from({ length: ROUNDS + 1 }, limitBodies)
    const forSubject = Array.from({ length: ROUNDS + 1 }, subjectBodies)
    const { limitMs, ratio, subjectMs } = await alternate(ROUNDS, () => load(limit, forLimit.pop()!), () => load(subject, forSubject.pop()!))
    const rate = (ms: number): number => figure(requests * size / ms * 1_000)
    return { name, value: rate(subjectMs), unit: "decisions/s", limit: rate(limitMs), ratio: figure(ratio), goal: `ratio >= ${goal}`, met: ratio >= goal }
  } finally {
    await subject.stop()
    await limit.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "witness",
  about: `${CONNECTIONS} connections to a server process on SQLite, against bare node:http with the same inserts, load from this process`,
  run: async () => [await measure("witness.batch_100", 300, 100, 0.5), await measure("witness.single", 6_000, 1, 0.4)]
}
