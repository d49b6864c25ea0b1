/** Third-party clients against answers of `/v1`: how often they send a request, and how long they wait. */
import { Anthropic } from "@anthropic-ai/sdk"
import type { RefusalTag } from "@flyball/contract"
import { endpoint, json, jsonBody, platformAccess, refusalExamples } from "@flyball/contract/http"
import { type Capability, defineModule, type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { type HttpApi, openHttp } from "@flyball/http"
import { Octokit } from "@octokit/core"
import { throttling } from "@octokit/plugin-throttling"
import { Effect, Layer, Schema } from "effect"
import got from "got"
import ky from "ky"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import OpenAI from "openai"
import pRetry, { AbortError } from "p-retry"
import { parseRateLimit } from "ratelimit-header-parser"
import { parseList } from "structured-headers"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

const rows = {
  fail: endpoint({
    id: "trial.fail",
    method: "POST",
    path: "/v1/trial/fail",
    summary: "Fails in the way that its body names.",
    access: platformAccess("usage:read"),
    platform: { module: "trial" },
    body: jsonBody(Schema.Struct({ tag: Schema.String })),
    success: json(200, Schema.Struct({}))
  })
}
const trial: Capability = {
  name: "trial",
  modules: [
    defineModule({
      name: "trial",
      rows,
      operations: {
        fail: ({ body: { tag } }) =>
          tag === "Defect"
            ? Effect.die(new Error("broken"))
            : (Effect.fail(refusalExamples[tag as RefusalTag]) as Effect.Effect<never>)
      },
      layer: Layer.empty
    })
  ]
}

let governor: Governor
let api: HttpApi
let key = ""
let requests: Array<number> = []
beforeEach(async () => {
  governor = await openGovernor({ storage: memoryStorage(), log: () => undefined, capabilities: [trial] })
  api = openHttp(governor)
  key = (await mint("enterprise")).key
  requests = []
})
afterEach(() => governor.close())

const mint = (plan: "free" | "enterprise") =>
  governor.platformKeys.mint({ name: "k", org_unit: "ops", plan, scopes: ["*"] })

const at = "http://host.example"
const send = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const response = await api.fetch(new Request(input, init))
  requests.push(response.status)
  return response
}

/** Runs with the timers of a client ended at once. Returns how long it wanted to wait. Unit: milliseconds. */
const waitsOf = async (from: string, run: () => Promise<unknown>): Promise<ReadonlyArray<number>> => {
  const real = globalThis.setTimeout
  const waits: Array<number> = []
  globalThis.setTimeout = ((act: () => void, ms = 0, ...rest: ReadonlyArray<unknown>) => {
    const isTheirs = (new Error("where").stack ?? "").includes(`/node_modules/${from}/`)
    if (isTheirs && ms < 100_000) waits.push(ms)
    return real(act, isTheirs && ms < 100_000 ? 0 : ms, ...rest)
  }) as typeof setTimeout
  try {
    await run()
  } finally {
    globalThis.setTimeout = real
  }
  return waits
}

/** Refusals and a defect, and how often a client that repeats 409, 429 and 5xx may send each. */
const answers: ReadonlyArray<
  readonly [RefusalTag | "Defect", status: number, requests: number, waitMs: number | null]
> = [
  ["InvalidInput", 400, 1, null],
  ["Unauthorized", 401, 1, null],
  ["Forbidden", 403, 1, null],
  ["PlanLimitReached", 403, 1, null],
  ["WebhookNotFound", 404, 1, null],
  ["MethodNotAllowed", 405, 1, null],
  ["IdempotencyKeyInUse", 409, 3, 1_000],
  ["WebhookNotActive", 409, 1, null],
  ["BodyTooLarge", 413, 1, null],
  ["UnsupportedMediaType", 415, 1, null],
  ["IdempotencyKeyReused", 422, 1, null],
  ["RateLimitExceeded", 429, 3, 12_000],
  ["QuotaExceeded", 429, 1, null],
  ["Defect", 500, 3, null],
  ["ModuleNotInstalled", 501, 1, null],
  ["Draining", 503, 3, 1_000]
]

const clients = {
  openai: () => new OpenAI({ apiKey: key, baseURL: `${at}/v1`, fetch: send }),
  "@anthropic-ai/sdk": () =>
    new Anthropic({ authToken: key, apiKey: null, baseURL: `${at}/v1`, fetch: send as typeof fetch })
}

describe.each(Object.keys(clients) as ReadonlyArray<keyof typeof clients>)("%s", (name) => {
  it.each(answers)("meets %s", async (tag, status, count, waitMs) => {
    let error: { readonly status?: number; readonly error?: any } = {}
    const waits = await waitsOf(name, () =>
      clients[name]()
        .post("/trial/fail", { body: { tag } })
        .then(
          () => assert.fail("it was answered"),
          (cause: typeof error) => void (error = cause)
        )
    )
    assert.deepStrictEqual([error.status, requests], [status, Array.from({ length: count }, () => status)])
    if (waitMs !== null) assert.deepStrictEqual(waits, [waitMs, waitMs])
    else assert.lengthOf(waits, count - 1)
  })
})

/** Uses a free key's minute up, but for what is given; answers the key. */
const usedUp = async (left = 0): Promise<string> => {
  const free = (await mint("free")).key
  for (let used = 20 - left; used > 0; used--)
    await api.fetch(new Request(`${at}/v1/nothing`, { headers: { authorization: `Bearer ${free}` } }))
  return free
}

describe("a minute that is used up", () => {
  it("is known by Octokit's throttling, which would wait until it begins anew", async () => {
    const seen: Array<number> = []
    const limited = (retryAfter: number) => {
      seen.push(retryAfter)
      return false
    }
    const octokit = new (Octokit.plugin(throttling))({
      baseUrl: at,
      request: { fetch: send },
      throttle: { onRateLimit: limited, onSecondaryRateLimit: () => assert.fail("the primary limit binds") }
    })
    const headers = { authorization: `Bearer ${await usedUp()}` }
    const status = await octokit.request("GET /v1/nothing", { headers }).catch((cause) => cause.status)
    assert.deepStrictEqual([status, requests], [429, [429]])
    assert.lengthOf(seen, 1)
    assert.isAtLeast(seen[0]!, 1)
    assert.isAtMost(seen[0]!, 62)
  })

  it("is waited for by ky and got as Retry-After says", async () => {
    const headers = { authorization: `Bearer ${await usedUp()}` }
    const waits = await waitsOf("ky", () =>
      ky.get(`${at}/v1/nothing`, { headers, fetch: send, retry: 2 }).catch(() => undefined)
    )
    assert.deepStrictEqual(requests, [429, 429, 429])
    assert.lengthOf(
      waits.filter((ms) => ms > 50_000 && ms <= 61_000),
      2
    )
    const server = createServer(api.node).listen(0, "127.0.0.1")
    try {
      await new Promise((resolve) => server.once("listening", resolve))
      const suggested: Array<number | undefined> = []
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/nothing`
      const calculateDelay = ({ retryAfter }: { readonly retryAfter?: number }) => {
        suggested.push(retryAfter)
        return 0
      }
      await got(url, { headers, retry: { limit: 2, calculateDelay } }).catch(() => undefined)
      assert.lengthOf(suggested, 1)
      assert.isTrue(suggested[0]! > 50_000 && suggested[0]! <= 61_000, String(suggested))
    } finally {
      server.close()
    }
  })

  it("is read by parsers of both families of headers", async () => {
    const response = await api.fetch(
      new Request(`${at}/v1/nothing`, { headers: { authorization: `Bearer ${await usedUp(1)}` } })
    )
    const parsed = parseRateLimit(new Headers([...response.headers].filter(([name]) => name.startsWith("x-rate"))))
    assert.deepInclude(parsed, { limit: 20, remaining: 0, used: 20 })
    assert.isAbove(parsed!.reset!.getTime(), Date.now() - 1_000)
    const list = (name: string) =>
      parseList(response.headers.get(name)!).map(([policy, parameters]) => [policy, Object.fromEntries(parameters)])
    const [minute] = list("ratelimit-policy")
    assert.deepInclude(minute![1], { q: 20, w: 60 })
    const [left] = list("ratelimit")
    assert.deepStrictEqual([left![0], (left![1] as { readonly r: number }).r], ["plan-minute", 0])
  })
})

it("X-Should-Retry tells a loop of p-retry when to stop", async () => {
  const attempt = async (tag: string) => {
    const response = await send(`${at}/v1/trial/fail`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ tag })
    })
    const failed = new Error(String(response.status))
    throw response.headers.get("x-should-retry") === "false" ? new AbortError(failed) : failed
  }
  const countOf = async (tag: string) => {
    requests = []
    await waitsOf("p-retry", () => pRetry(() => attempt(tag), { retries: 2 }).catch(() => undefined))
    return requests.length
  }
  assert.deepStrictEqual(
    [await countOf("QuotaExceeded"), await countOf("ModuleNotInstalled"), await countOf("RateLimitExceeded")],
    [1, 1, 3]
  )
})
