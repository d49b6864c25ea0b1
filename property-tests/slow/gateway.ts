/**
 * `npm run slow -- gateway [--kills N]`: a real server is killed (SIGKILL) in the midst of streams, N times (4 unless
 * said) on SQLite and on Postgres: some wait for their first text, some run, some end. The next server settles what was
 * left. Every call is on record once, and the tokens of the month are the sum of the records.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { inputEstimate } from "@flyball/contract/http"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { pickOf, seededSource } from "@flyball/testkit"
import { adminToken, flyball, startServer, type Variables } from "../src/servers/server-process.ts"
import { numbersOf } from "./options.ts"

const KILLS = 4
/** Streams that are open at a kill, by what their upstream does. */
const kinds = ["silent", "endless", "short"] as const
const OF_EACH = 4
const MAX_TOKENS = 100
/** A lease of 15 seconds, a round of the job, and room for a busy machine. Unit: milliseconds. */
const SETTLED_MS = 90_000

/** The usage that a short answer reports. */
const REPORTED = { prompt_tokens: 9, completion_tokens: 5 }
const event = (choices: ReadonlyArray<object>, more: object = {}) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`
const text = event([{ index: 0, delta: { content: "word " }, finish_reason: null }])
const last =
  event([{ index: 0, delta: {}, finish_reason: "stop" }]) + event([], { usage: REPORTED }) + "data: [DONE]\n\n"

const startUpstream = async () => {
  const upstream = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece))
    request.on("end", () => {
      const { user } = JSON.parse(body) as { readonly user: (typeof kinds)[number] }
      if (user === "silent") return
      response.writeHead(200, { "content-type": "text/event-stream" }).write(text)
      if (user === "short") return void response.end(last)
      const timer = setInterval(() => response.write(text), 5)
      response.once("close", () => clearInterval(timer))
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  return upstream
}

/** Kills servers over one store. Throws where a call is lost, doubled or settled to something else. */
const killedStreams = async (variables: Variables, kills: number) => {
  const pick = pickOf(seededSource("gateway 2026-11-28"))
  let server = await startServer(variables)
  const admin = await adminToken(variables)
  const send = async (token: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${server.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
  const { id } = await send(admin, "/api/v1/agents", { name: "caller", org_unit: "ops", ...owner })
  await send(admin, `/api/v1/agents/${id}/activate`, {})
  const minted = { name: "k", org_unit: "ops", plan: "custom", scopes: ["*"], agent_id: id }
  const { key } = await send(admin, "/api/v1/admin/platform-keys", minted)
  const used = async (): Promise<number> => (await send(key, "/v1/usage")).tokens_used

  /** Opens a stream and reads it to its end, whatever that is. `begun` is called with the first text. */
  const open = async (user: (typeof kinds)[number], begun: () => void): Promise<void> => {
    const body = { model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: MAX_TOKENS, stream: true, user }
    const response = await fetch(`${server.url}/v1/gateway/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`the gateway answered ${response.status}`)
    for await (const _ of response.body!) begun()
  }
  const bytesOf = (user: string): number =>
    JSON.stringify({
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: MAX_TOKENS,
      stream: true,
      user
    }).length
  const reservedOf = new Set(kinds.map((kind) => inputEstimate(bytesOf(kind)) + MAX_TOKENS))
  const reported = REPORTED.prompt_tokens + REPORTED.completion_tokens

  const found = { calls: 0, finished: 0, lost: 0, tokens: 0, slowestMs: 0 }
  for (let round = 0; round < kills; round++) {
    const before = await used()
    const begun = { silent: 0, endless: 0, short: 0 }
    const streams = kinds.flatMap((kind) =>
      Array.from({ length: OF_EACH }, () => {
        let hasBegun = false
        return open(kind, () => {
          if (!hasBegun) begun[kind]++
          hasBegun = true
        }).catch(() => undefined)
      })
    )
    // Silent ones are reserved by then, or a moment later: both are right.
    while (begun.endless < OF_EACH || begun.short === 0) await pause(2)
    await pause(pick(60))
    const atKill = await used()
    await server.stop("SIGKILL")
    await Promise.all(streams)
    const killedAt = performance.now()
    server = await startServer(variables)
    const records = async (): Promise<ReadonlyArray<any>> =>
      (await send(admin, "/api/v1/chain/records?kind=decision.witnessed&limit=1000")).map(({ body }: any) => body)
    const sumOf = (all: ReadonlyArray<any>): number =>
      all.reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, 0)
    let all = await records()
    while (sumOf(all) !== (await used())) {
      if (performance.now() - killedAt > SETTLED_MS)
        throw new Error(`the records have ${sumOf(all)} tokens, and ${await used()} are used, of ${before}, ${atKill}`)
      await pause(500)
      all = await records()
    }
    found.slowestMs = Math.max(found.slowestMs, performance.now() - killedAt)
    const now = all.length - found.calls
    if (now < OF_EACH + begun.short || now > kinds.length * OF_EACH) throw new Error(`${now} calls are on record`)
    if (new Set(all.map(({ client_ref: ref }) => ref)).size !== all.length) throw new Error("a call is there twice")
    found.calls = all.length
  }
  const all: ReadonlyArray<any> = (await send(admin, "/api/v1/chain/records?kind=decision.witnessed&limit=1000")).map(
    ({ body }: any) => body
  )
  for (const { status, usage } of all) {
    const tokens = usage.input_tokens + usage.output_tokens
    found.tokens += tokens
    if (status === "ok") found.finished++
    if (status === "unknown") found.lost++
    if (status === "ok" ? tokens !== reported : status === "unknown" && !reservedOf.has(tokens))
      throw new Error(`a call of the status ${status} is settled to ${tokens} tokens`)
  }
  await server.stop("SIGTERM")
  const checked = await flyball(["check"], variables)
  if (checked.status !== 0) throw new Error(`flyball check ended with ${checked.status}: ${checked.out}`)
  return found
}

/** Runs the proof. True when every end settled exactly. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { kills = KILLS } = numbersOf(args, ["kills"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-gateway-"))
  const [postgres, upstream] = [await startPostgres(), await startUpstream()]
  try {
    const upstreams = join(folder, "upstreams.json")
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
    writeFileSync(upstreams, JSON.stringify({ upstreams: [{ model: "m", base_url: baseUrl, forms: ["chat"] }] }))
    const { drop, url } = await freshDatabase(postgres.url)
    for (const [name, database] of [
      ["SQLite", `sqlite:${folder}/flyball.db`],
      ["Postgres", url]
    ] as const) {
      const dataDir = join(folder, name)
      mkdirSync(dataDir)
      const { calls, finished, lost, slowestMs, tokens } = await killedStreams(
        {
          FLYBALL_DATA_DIR: dataDir,
          FLYBALL_DATABASE_URL: database,
          FLYBALL_GATEWAY_UPSTREAMS: upstreams,
          FLYBALL_EGRESS_ALLOW: "127.0.0.1",
          FLYBALL_EGRESS_HTTP: "1"
        },
        kills
      )
      console.log(
        `${name}: ${kills} SIGKILLs, ${calls} calls: ${finished} finished as reported, ${lost} lost and settled to ` +
          `what was reserved, ${calls - finished - lost} others; ${tokens} tokens are used, and the records have as ` +
          `many; settled ${(slowestMs / 1_000).toFixed(1)} s after a kill at the latest`
      )
    }
    await drop()
    return true
  } finally {
    upstream.closeAllConnections()
    upstream.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
