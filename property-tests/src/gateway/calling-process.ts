/** A process with a gateway that sends one request to a model, and lives until it is killed. */
import { openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { dataFolder, pinnedWebhooks } from "@flyball/node"
import { postgresStorage } from "@flyball/storage-sql"
import { platform } from "../../../packages/platform/src/index.ts"

const [url, dir, baseUrl, modelId, key, agentId] = process.argv.slice(2) as [string, ...Array<string>]
const minute = 60_000
const model = {
  model: "m",
  baseUrl: baseUrl!,
  sealedSecret: null,
  modelId: modelId!,
  timeoutMs: minute,
  idleMs: minute
}
const governor = await openGovernor({
  storage: postgresStorage({ url }),
  keys: dataFolder({ dir: dir! }),
  webhooks: pinnedWebhooks({ egressAllow: ["127.0.0.1"], allowHttp: true }),
  capabilities: [platform({ gateway: { upstreams: [{ ...model, forms: ["chat"] }] } })]
})
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "x-flyball-agent": agentId! }
const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 500 })
await openHttp(governor).fetch(
  new Request("http://host.example/v1/gateway/chat/completions", { method: "POST", headers, body })
)
