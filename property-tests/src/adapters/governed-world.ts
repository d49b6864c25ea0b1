/** A real server with agents under one envelope: what the conformance suite of the adapters stands on. */
import { type AgentClient, type Client, openClient } from "@flyball/client"
import { openWorld } from "../../../apps/server/src/http/http-world.ts"

/** A value that must not leave the process: the argument `card_number` is marked secret. */
export const SECRET = "4000 0000 0000 0002"

/** Refunds to 50 alone, to 100 with a person's approval; lookups, failures and delegation alone; nothing else. */
const ENVELOPE = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["lookup", "refund", "fail", "delegate"], source: "caller" },
    amount: { type: "int", min: 0, max: 1_000, source: "args", from: "/amount", optional: true }
  },
  effects: { lookup: "read", refund: "write_reversible", fail: "read", delegate: "read" },
  rules: [
    { id: "free", outcome: "allow", when: [{ signal: "tool", in: ["lookup", "fail", "delegate"] }] },
    {
      id: "small",
      outcome: "allow",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "amount", lte: 50 }
      ]
    },
    {
      id: "reviewed",
      outcome: "require_review",
      when: [
        { signal: "tool", in: ["refund"] },
        { signal: "amount", between: [51, 100] }
      ]
    }
  ],
  default: { outcome: "deny" }
}

/** Opens the server and a client whose network a test cuts, listens to and holds up. */
export const openGovernedWorld = async () => {
  // An aborted stream is noticed by its next heartbeat: nothing is waited for at the end.
  const world = await openWorld({ server: { times: { closeMs: 100 } } })
  const governor = await world.token("governor", "*")
  let agents = 0
  let isCut = false
  let isBroken = false
  let evaluations = 0
  let hook: { readonly at: number; readonly run: () => Promise<unknown> } | null = null
  const bodies: Array<string> = []
  let clients: Array<Client> = []

  const post = async (path: string, json: unknown, token = world.admin) => {
    const got = await world.send("POST", `/api/v1${path}`, { token, json })
    if (got.status >= 300) throw new Error(`${path}: ${got.status} ${got.text}`)
    return got.json
  }

  /** Without a tier the floor has every write reviewed. */
  const patchTier = (id: string) =>
    world.send("PATCH", `/api/v1/agents/${id}`, { token: world.admin, json: { autonomy_tier: "L2" } })

  const fetching = (async (input: string | URL | Request, init: RequestInit = {}) => {
    if (isCut) throw new TypeError("fetch failed")
    if (typeof init.body === "string") bodies.push(init.body)
    else if (init.body !== undefined && init.body !== null)
      bodies.push(new TextDecoder().decode(init.body as Uint8Array))
    if (String(input).endsWith("/bound/evaluations") && ++evaluations === hook?.at) await hook.run()
    return fetch(input, init)
  }) as typeof fetch

  const opened = (): Client => {
    const client = openClient({
      url: world.url,
      key: world.key,
      fetch: fetching,
      redact: ["card_number"],
      signals: (tool) => {
        if (isBroken) throw new Error("the gate is broken")
        return { tool }
      }
    })
    clients.push(client)
    return client
  }

  const decisionsOf = async (agent: AgentClient) => {
    for (const client of clients) await client.flush()
    return (await world.send("GET", `/api/v1/agents/${agent.id}/decisions`, { token: world.admin })).json
  }

  const toolCalls = async (agent: AgentClient) =>
    (await decisionsOf(agent)).filter(({ kind }: { kind: string }) => kind === "tool_call")

  return {
    http: world,
    post,
    /** Registers an agent under the envelope; `parent` is the agent that it works for. */
    agent: async (parent: string | null = null): Promise<AgentClient> => {
      const name = `bot ${++agents}`
      const agent = await opened().register({
        name,
        owner_name: "Ada",
        owner_email: "ada@example.org",
        parent_agent_id: parent
      })
      const { id } = await post("/bound/envelopes", {
        name: `${name} rules`,
        agent_id: agent.id,
        envelope: ENVELOPE
      })
      await post(`/bound/envelopes/${id}/publish`, {}, governor)
      await patchTier(agent.id)
      await post(`/agents/${agent.id}/activate`, {})
      await agent.kill.refresh()
      return agent
    },
    /** The same agent in another process: a client that remembers nothing. */
    again: (agent: AgentClient): Promise<AgentClient> => opened().register({ name: agent.info.name }),
    /** Halts an agent; resolves when the server has sealed it. */
    halt: (agent: AgentClient) =>
      post("/bound/kill/activate", { target_type: "agent", target_id: agent.id, reason: "a test" }),
    /** Runs something before the n-th evaluation from now on is sent. */
    beforeEvaluation: (n: number, run: () => Promise<unknown>) => void (hook = { at: evaluations + n, run }),
    cut: () => void (isCut = true),
    restore: () => void (isCut = false),
    /** From now on the function that makes the signals throws. */
    breakSignals: () => void (isBroken = true),
    /** Everything that was sent to the server, as text. */
    sent: () => bodies.join("\n"),
    decisionsOf,
    /** The tool calls that the server holds of an agent, newest first. */
    toolCalls,
    /** The same as `action status`. */
    outcomes: async (agent: AgentClient): Promise<ReadonlyArray<string>> =>
      (await toolCalls(agent)).map((one: { action: string; status: string }) => `${one.action} ${one.status}`),
    /** Ends what a case opened, and undoes what it broke. */
    rest: async () => {
      isCut = false
      isBroken = false
      hook = null
      bodies.length = 0
      for (const client of clients) await client.close()
      clients = []
    },
    close: () => world.close()
  }
}

/** An open governed world. */
export type GovernedWorld = Awaited<ReturnType<typeof openGovernedWorld>>
