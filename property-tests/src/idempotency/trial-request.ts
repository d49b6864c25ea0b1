/** Requests of the crash tests, and what they change. */
import type { Governor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { order } from "./trial.ts"

/** A request: an order below `/v1`, an agent below `/api/v1`, or an agent whose name is taken. */
export interface TrialRequest {
  readonly act: "order" | "agent" | "refused"
  readonly key: string
}

/** Name of the agent that is there already. */
export const TAKEN = "taken"

const ask = (governor: Governor, path: string, init: RequestInit = {}): Promise<Response> =>
  openHttp(governor, {
    authentication: { authenticate: () => ({ subject: "ada", grants: [{ role: "admin", org_unit: "*" }] }) }
  }).fetch(new Request(`http://host.example${path}`, init))

/** How often a request took effect. */
export const effectsOf = async (governor: Governor, { act, key }: TrialRequest): Promise<number> => {
  if (act !== "order") return (await governor.agents.list({ name: act === "agent" ? key : TAKEN })).length
  const items = (await (await ask(governor, order.path)).json()) as ReadonlyArray<unknown>
  return items.filter((item) => item === JSON.stringify(key)).length
}

/** Sends a request as ada. */
export const sendTo = async (governor: Governor, { act, key }: TrialRequest) => {
  const response = await ask(governor, act === "order" ? order.path : "/api/v1/agents", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(act === "order" ? { item: key } : { name: act === "agent" ? key : TAKEN, org_unit: "ops" })
  })
  const body = (await response.json()) as any
  return {
    status: response.status,
    code: (body.error?.code ?? body.code ?? null) as string | null,
    isReplay: response.headers.get("idempotent-replayed") === "true"
  }
}
