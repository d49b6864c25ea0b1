/** The gateway over HTTP against a bare proxy: requests, time to the first text, and a halt of open streams. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { absolute, alternate, type Benchmark, figure, type Line, median, quantile } from "./harness.ts"
import { CONNECTIONS, Connections, file, type Running, start, startFlyball } from "./server-process.ts"

const REQUESTS = 2_000
const WARM_UP = 4_000
const ROUNDS = 7
const FIRST_TEXTS = 300
const STREAMS = 200
const HALTS = 5
const [GOAL, FIRST_GOAL_MS, HALT_GOAL_MS] = [0.4, 5, 100]

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "gateway",
  about:
    "POST of a chat completion through `flyball serve` on SQLite, reserved and recorded durably, against bare " +
    `node:http, over ${CONNECTIONS} connections, ${ROUNDS} rounds in turn, by the clock; the time that it adds to ` +
    `the first text of a stream; and from a halt to the last byte of ${STREAMS} open streams`,
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const running: Array<Running> = []
    try {
      const upstream = await start(process.execPath, [file("gateway-upstream.ts"), "upstream"], {})
      running.push(upstream)
      const proxy = await start(process.execPath, [file("gateway-upstream.ts"), "proxy", String(upstream.port)], {})
      running.push(proxy)
      const upstreams = join(folder, "upstreams.json")
      const entry = { model: "m", base_url: `http://127.0.0.1:${upstream.port}/v1`, forms: ["chat"] }
      writeFileSync(upstreams, JSON.stringify({ upstreams: [entry] }))
      const { server, token } = await startFlyball(folder, undefined, {
        FLYBALL_GATEWAY_UPSTREAMS: upstreams,
        FLYBALL_EGRESS_ALLOW: "127.0.0.1",
        FLYBALL_EGRESS_HTTP: "1"
      })
      running.push(server)
      return await measured(proxy.port, server.port, token)
    } finally {
      for (const one of running.toReversed()) await one.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const path = "/v1/gateway/chat/completions"
const bodyOf = (more: object) =>
  Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 100, ...more }))

const measured = async (proxy: number, port: number, token: string): Promise<ReadonlyArray<Line>> => {
  const post = async (to: string, body: object): Promise<any> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${to}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`${to} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
  const { id } = await post("/agents", { name: "caller", org_unit: "bench", ...owner })
  await post(`/agents/${id}/activate`, {})
  const { key } = await post("/admin/platform-keys", { name: "b", org_unit: "bench", plan: "custom", scopes: ["*"] })
  const headers = { authorization: `Bearer ${key}`, "x-flyball-agent": id }

  const [theirs, ours] = [proxy, port].map((to) => new Connections({ port: to, headers, expects: 200 })) as [
    Connections,
    Connections
  ]
  const requests = (count: number) =>
    Array.from({ length: count }, () => ({ method: "POST", path, body: bodyOf({}) }) as const)
  for (const to of [theirs, ours]) await to.load(requests(WARM_UP))
  const { limitMs, ratio, subjectMs } = await alternate(
    ROUNDS,
    () => theirs.load(requests(REQUESTS)),
    () => ours.load(requests(REQUESTS))
  )
  theirs.close()
  ours.close()

  const agent = new Agent({ keepAlive: true })
  const stream = (to: number, body: Buffer, onData: () => void) =>
    new Promise<void>((resolve, reject) => {
      const sent = request({
        agent,
        host: "127.0.0.1",
        port: to,
        path,
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          "content-length": body.length
        }
      })
      sent.once("error", reject).once("response", (response) => {
        response.on("data", onData).once("end", resolve).once("error", reject)
      })
      sent.end(body)
    })
  const firstText = async (to: number): Promise<number> => {
    const startedAt = performance.now()
    let elapsed = 0
    await stream(to, bodyOf({ stream: true }), () => (elapsed ||= performance.now() - startedAt))
    return elapsed
  }
  const added: Array<number> = []
  for (let round = 0; round < FIRST_TEXTS; round++) {
    const bare = await firstText(proxy)
    added.push((await firstText(port)) - bare)
  }

  const halts: Array<number> = []
  for (let round = 0; round < HALTS; round++) {
    const begun = new Set<number>()
    const ends: Array<number> = []
    const all = Array.from({ length: STREAMS }, async (_, at) => {
      await stream(port, bodyOf({ stream: true, user: "endless" }), () => void begun.add(at))
      ends.push(performance.now())
    })
    while (begun.size < STREAMS) await new Promise((resolve) => setTimeout(resolve, 20))
    const startedAt = performance.now()
    const activation = { target_type: "agent", target_id: id, response: "halt", reason: "A benchmark." }
    const { activation_event: event } = await post("/bound/kill/activate", activation)
    await Promise.all(all)
    halts.push(...ends.map((end) => end - startedAt))
    await post("/bound/kill/release", { activation_event: event, reason: "A benchmark." })
  }
  agent.destroy()

  const [first, halt] = [median(added), quantile(halts, 0.99)]
  return [
    {
      name: "gateway.requests",
      value: figure((REQUESTS / subjectMs) * 1_000),
      unit: "requests/s",
      limit: figure((REQUESTS / limitMs) * 1_000),
      ratio: figure(ratio),
      goal: `at least ${GOAL} of a bare proxy`,
      met: ratio >= GOAL
    },
    {
      name: "gateway.first_text",
      value: figure(first),
      unit: "ms added, p50",
      ...absolute,
      goal: `under ${FIRST_GOAL_MS} ms`,
      met: first < FIRST_GOAL_MS
    },
    {
      name: "gateway.halt",
      value: figure(halt),
      unit: "ms to the last byte, p99",
      ...absolute,
      goal: `under ${HALT_GOAL_MS} ms with ${STREAMS} open streams`,
      met: halt < HALT_GOAL_MS
    }
  ]
}
