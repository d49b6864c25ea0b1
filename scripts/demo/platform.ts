/** The demo's chapter on the platform API: a limited key, a POST that survives SIGKILL, and a quota that is used up. */
import { type RunningServer, startServer } from "./server.ts"

/** Result of this step. */
export interface Platform {
  readonly plan: string
  readonly admitted: number
  readonly refused: { readonly status: number; readonly reason: string | null; readonly isTrue: boolean }
  readonly repeated: { readonly status: number; readonly isReplayed: boolean; readonly isSame: boolean }
  readonly webhooks: number
  readonly quota: { readonly status: number; readonly code: string; readonly retry: string | null }
}

/** Lets a key meet its limits, and kills the server between a POST and its repetition. */
export const platform = async (
  folder: string,
  { admin, server }: { readonly admin: string; readonly server: RunningServer }
): Promise<{ readonly met: Platform; readonly server: RunningServer }> => {
  const free = await mint(server, admin, "free")
  let admitted = 0
  let refused = await server.call("GET", "/v1/usage", free)
  for (; refused.status === 200; refused = await server.call("GET", "/v1/usage", free)) admitted++
  const wait = Number(refused.headers.get("retry-after"))

  const starter = await mint(server, admin, "starter")
  const webhook = { url: "https://hooks.example.org/erp", events: ["extraction.completed"] }
  const create = (by: RunningServer) =>
    by.call("POST", "/v1/webhooks", starter, webhook, { "idempotency-key": "erp-webhook" })
  const created = await create(server)
  await server.kill()
  const next = await startServer(folder)
  const repeated = await create(next)
  const listed = await next.call("GET", "/v1/webhooks", starter)
  const none = await next.call("POST", "/v1/documents/extract", await mint(next, admin, "free"), {
    url: "https://files.example.org/invoice.pdf"
  })
  return {
    met: {
      plan: "free",
      admitted,
      refused: {
        status: refused.status,
        reason: refused.headers.get("x-ratelimit-reason"),
        isTrue: wait >= 1 && wait <= 61
      },
      repeated: {
        status: repeated.status,
        isReplayed: repeated.headers.get("idempotent-replayed") === "true",
        isSame: Buffer.from(created.bytes).equals(repeated.bytes)
      },
      webhooks: listed.json.data.length,
      quota: { status: none.status, code: none.json.error.code, retry: none.headers.get("x-should-retry") }
    },
    server: next
  }
}

const mint = async (server: RunningServer, admin: string, plan: string): Promise<string> => {
  const wanted = { name: "demo", org_unit: "support", plan, scopes: ["*"] }
  return (await server.call("POST", "/api/v1/admin/platform-keys", admin, wanted)).json.key
}

/** Its lines of the page. */
export const platformLines = ({
  admitted,
  plan,
  quota,
  refused,
  repeated,
  webhooks
}: Platform): ReadonlyArray<string> => [
  `A key of the platform API on the plan ${plan} was admitted ${admitted} times in a minute, then refused ` +
    `(${refused.status}, ${refused.reason}) with a time to wait that is ${refused.isTrue ? "true" : "wrong"}.`,
  `A webhook was created with an Idempotency-Key, and the server was killed. The same request to the next one ` +
    `answered ${repeated.status}, ${repeated.isReplayed ? "replayed" : "run again"}, ` +
    `${repeated.isSame ? "byte for byte with its secret" : "otherwise"}: there is ${webhooks} webhook.`,
  `The plan grants no documents: ${quota.status} ${quota.code}, and x-should-retry: ${quota.retry}.`
]
