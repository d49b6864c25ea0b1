/** The demo's chapter on workflows: a run that waits for a person, outlives SIGKILL, and calls nobody twice. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { type RunningServer, startServer } from "./server.ts"

/** Result of this step. */
export interface Waited {
  readonly agent: string
  /** Steps whose agents were called before the answer. */
  readonly before: ReadonlyArray<string>
  /** The refusal of the key that started the run. */
  readonly starter: string
  /** The refusal of an answer to another subject. */
  readonly stale: string
  readonly status: string
  /** Steps whose agents were called in the end. */
  readonly calls: ReadonlyArray<string>
  /** True when the second agent got what the first one had answered. */
  readonly isPassedOn: boolean
}

const POLL_MS = 50

/** Starts a workflow, kills the server while the run waits, and lets a person answer the next one. */
export const waited = async (
  folder: string,
  {
    admin,
    agent,
    server
  }: {
    readonly admin: string
    readonly agent: { readonly id: string; readonly name: string }
    readonly server: RunningServer
  }
): Promise<{ readonly waited: Waited; readonly server: RunningServer }> => {
  const arrived: Array<{ readonly step: string; readonly body: any }> = []
  const agents = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk) => (text += String(chunk)))
    request.on("end", () => {
      arrived.push({ step: request.url!.slice(1), body: JSON.parse(text) })
      response.setHeader("content-type", "application/json").end(JSON.stringify({ found: "o-17", items: 2 }))
    })
  })
  await new Promise<void>((resolve) => agents.listen(0, "127.0.0.1", resolve))
  const call = (id: string, action: string, body: unknown) => ({
    id,
    type: "agent",
    agent: agent.id,
    action,
    signals: { tool: action, items: 0 },
    request: { url: `http://127.0.0.1:${(agents.address() as AddressInfo).port}/${id}`, body }
  })
  try {
    const scopes = ["workflows:read", "workflows:write"]
    const minted = await server.call("POST", "/api/v1/admin/platform-keys", admin, {
      name: "desk",
      org_unit: "support",
      plan: "starter",
      scopes: [...scopes, "executions:approve"]
    })
    const key: string = minted.json.key
    const made = async (by: RunningServer, path: string, body: unknown) => {
      const { bytes, json, status } = await by.call("POST", `/v1/${path}`, key, body)
      if (status >= 300) throw new Error(`${path} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
      return json
    }
    const flow = await made(server, "workflows", {
      name: "change an order",
      steps: [
        call("read", "get_order_details", { order: "{{inputs.order}}" }),
        { id: "ok", type: "approval", title: "Change the order?", approvers: { role: "reviewer" } },
        call("change", "modify_pending_order_items", { items: "{{steps.read.output.items}}" })
      ]
    })
    const run = await made(server, `workflows/${flow.id}/executions`, { inputs: { order: "o-17" } })
    const until = async (by: RunningServer, isThere: (execution: any) => boolean) => {
      for (let tries = 0; tries < 400; tries++) {
        const { json } = await by.call("GET", `/v1/workflows/executions/${run.id}`, key)
        if (isThere(json)) return json
        await pause(POLL_MS)
      }
      throw new Error("the run did not get there")
    }
    const { waiting } = await until(server, (execution) => execution.waiting !== undefined)
    const before = arrived.map(({ step }) => step)
    await server.kill()
    const next = await startServer(folder)
    const rita = (await next.flyball("token", "--role", "reviewer", "--sub", "rita")).stdout.trim()
    const answer = (token: string, more: object = {}) =>
      next.call("POST", `/v1/workflows/executions/${run.id}/approve?org_unit=support`, token, {
        approved: true,
        approval_id: waiting.id,
        subject_digest: waiting.subject_digest,
        notes: "The customer called.",
        ...more
      })
    const starter = await answer(key)
    const stale = await answer(rita, { subject_digest: waiting.subject_digest.replace(/.{4}$/, "0000") })
    const answered = await answer(rita)
    if (answered.status !== 200)
      throw new Error(`the answer was refused: ${new TextDecoder().decode(answered.bytes).slice(0, 500)}`)
    const ended = await until(next, ({ status }) => status !== "running" && status !== "waiting_approval")
    return {
      waited: {
        agent: agent.name,
        before,
        starter: `${starter.status} ${starter.json.error.code}`,
        stale: `${stale.status} ${stale.json.error.code}`,
        status: ended.status,
        calls: arrived.map(({ step }) => step),
        isPassedOn: arrived.at(-1)?.body.items === 2
      },
      server: next
    }
  } finally {
    await new Promise((resolve) => agents.close(resolve))
  }
}

/** Its lines of the page. */
export const waitedLines = ({
  agent,
  before,
  calls,
  isPassedOn,
  stale,
  starter,
  status
}: Waited): ReadonlyArray<string> => [
  `A workflow called ${agent} (${before.join(", ")}), and stopped at a step that a person must approve. The server ` +
    "was killed while it waited.",
  `At the next server the key that started it could not approve it (${starter}), and an answer to another subject ` +
    `was refused (${stale}). A person approved what was shown, and it is ${status}:`,
  `  the agents were called ${calls.length} times (${calls.join(", ")}), and the second got ` +
    `${isPassedOn ? "what the first had answered" : "something else"}. The replay above judged the answer too.`
]
