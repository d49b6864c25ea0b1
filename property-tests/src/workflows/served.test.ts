/** A workflow on a real server: its agent is a program behind HTTP, the server is killed in the middle of a step. */
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { afterEach, assert, beforeEach, it } from "vitest"
import { type Operator, operator, type RunningServer } from "../../../apps/server/src/cli/testing/commands.ts"

let me: Operator
const opened: Array<() => Promise<void>> = []
beforeEach(() => void (me = operator()))
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
  me.leave()
})

/** An agent that answers once it is let, and remembers what it was sent. */
const agentProgram = async () => {
  const got: Array<IncomingHttpHeaders> = []
  const gate = { isOpen: false, waiting: Promise.withResolvers<void>() }
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      got.push(request.headers)
      gate.waiting.resolve()
      if (gate.isOpen) response.writeHead(200, { "content-type": "application/json" }).end('{"paid": true}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  opened.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  )
  return { got, gate, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pay` }
}

const json = async <A>(response: Promise<Response>, status: number): Promise<A> => {
  const answered = await response
  const text = await answered.text()
  assert.strictEqual(answered.status, status, text)
  return JSON.parse(text) as A
}

interface Shown {
  readonly id: string
  readonly status: string
  readonly waiting?: { readonly id: string }
  readonly outputs: object
  readonly steps: ReadonlyArray<{ readonly status: string }>
}

it(
  "outlives the server: no step runs again before an answer, and one behind it repeats under its key",
  {
    timeout: 180_000
  },
  async () => {
    const program = await agentProgram()
    const variables = { FLYBALL_EGRESS_ALLOW: "127.0.0.1", FLYBALL_EGRESS_HTTP: "1" }
    let server: RunningServer = await me.serve(variables)
    const tokenOf = async (subject: string) =>
      (await me.flyball(["token", "--role", "admin", "--sub", subject], variables)).out.trim()
    const [ann, ben] = [await tokenOf("ann"), await tokenOf("ben")]
    const send = (token: string, method: string, path: string, body?: unknown) =>
      fetch(`${server.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    const admin = (method: string, path: string, body?: unknown, token = ann) =>
      send(token, method, `/api/v1${path}`, body)
    const agent = (
      await json<{ readonly id: string }>(
        admin("POST", "/agents", { name: "payer", org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" }),
        201
      )
    ).id
    const { id: envelope } = await json<Shown>(
      admin("POST", "/bound/envelopes", {
        name: "pay",
        agent_id: agent,
        envelope: {
          semantics: "envelope/1",
          signals: { amount: { type: "int", min: 0, max: 100, source: "caller" } },
          effects: { "*": "write_reversible" },
          rules: [{ id: "small", outcome: "allow", when: [{ signal: "amount", lte: 50 }] }],
          default: { outcome: "deny" }
        }
      }),
      201
    )
    await json(admin("POST", `/bound/envelopes/${envelope}/publish`, {}, ben), 200)
    await json(admin("PATCH", `/agents/${agent}`, { autonomy_tier: "L2" }, ben), 200)
    await json(admin("POST", `/agents/${agent}/activate`, undefined, ben), 200)
    const keyOf = async (scopes: ReadonlyArray<string>) =>
      (
        await json<{ readonly key: string }>(
          admin("POST", "/admin/platform-keys", { name: scopes[0], org_unit: "ops", plan: "enterprise", scopes }),
          201
        )
      ).key
    const [key, desk] = [await keyOf(["workflows:read", "workflows:write"]), await keyOf(["executions:approve"])]
    const v1 = (method: string, path: string, body?: unknown, token = key) => send(token, method, `/v1${path}`, body)
    const workflow = await json<Shown>(
      v1("POST", "/workflows", {
        name: "pay",
        steps: [
          { id: "ok", type: "approval", title: "Pay?" },
          {
            id: "pay",
            type: "agent",
            agent,
            signals: { amount: "{{inputs.n}}" },
            timeout_ms: 1_000,
            retries: 10,
            request: {
              url: program.url,
              headers: { authorization: "Bearer of the agent" },
              body: { n: "{{inputs.n}}" }
            }
          }
        ]
      }),
      201
    )
    const { id } = await json<Shown>(v1("POST", `/workflows/${workflow.id}/executions`, { inputs: { n: 7 } }), 201)
    const until = async (...statuses: ReadonlyArray<string>): Promise<Shown> => {
      for (;;) {
        const shown = await json<Shown>(v1("GET", `/workflows/executions/${id}`), 200)
        if (statuses.includes(shown.status)) return shown
        await pause(50)
      }
    }
    const { waiting } = await until("waiting_approval")
    await server.stop("SIGKILL")
    server = await me.serve(variables)
    assert.deepStrictEqual((await until("waiting_approval")).waiting, waiting)
    await json(v1("POST", `/workflows/executions/${id}/approve`, { approved: true }, desk), 200)
    await program.gate.waiting.promise
    // In the middle of the step: the request is at the agent, and its answer never comes.
    await server.stop("SIGKILL")
    program.gate.isOpen = true
    server = await me.serve(variables)
    const done = await until("completed", "failed")
    assert.deepStrictEqual(done.outputs, { pay: { paid: true } })
    assert.isAtLeast(program.got.length, 2)
    for (const headers of program.got)
      assert.deepInclude(headers, { "idempotency-key": `"${id}:pay"`, authorization: "Bearer of the agent" })
    assert.deepInclude(
      await json<Shown>(v1("POST", `/workflows/executions/${id}/approve`, { approved: true }, desk), 200),
      {
        status: "completed"
      }
    )
    const timeline = await json<ReadonlyArray<{ readonly kind: string }>>(
      admin("GET", `/agents/${agent}/timeline`),
      200
    )
    assert.lengthOf(
      timeline.filter(({ kind }) => kind === "decision.witnessed"),
      1
    )
    // Each time that the step was taken up.
    assert.lengthOf(
      timeline.filter(({ kind }) => kind === "evaluation.made"),
      program.got.length
    )
    await server.stop("SIGTERM")
  }
)
