/** The demo's chapter on bounds: an envelope for an agent, and its real tool calls evaluated. */
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface Bounded {
  readonly agent: string
  readonly mistake: { readonly code: string; readonly example: string; readonly refused: string }
  readonly alone: string
  readonly newlyAllowed: string
  readonly evaluations: number
  readonly outcomes: ReadonlyArray<readonly [outcome: string, count: number]>
  /** Calls that the envelope sends to people. */
  readonly toReview: ReadonlyArray<ToolCall>
  /** The record of the last call that the envelope denies. */
  readonly denied: number
}

/** One call that the agent made. */
export interface ToolCall {
  readonly action: string
  readonly args: unknown
  readonly ref: string
}

const reads = [
  "calculate",
  "find_user_id_by_email",
  "find_user_id_by_name_zip",
  "get_order_details",
  "get_product_details",
  "get_user_details"
]
const changes = ["exchange_delivered_order_items", "modify_pending_order_items"]
const returns = ["cancel_pending_order", "return_delivered_order_items"]
const tools = [...reads, ...changes, ...returns, "modify_user_address"]

/**
 * The agent's envelope. `largest` is where the review of large returns begins, and the mistake to plant: one too high
 * leaves a gap.
 */
export const envelopeOf = (largest: number) => ({
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: tools, source: "caller" },
    items: { type: "int", min: 0, max: 50, unit: "count", source: "caller" }
  },
  effects: Object.fromEntries(
    tools.map((tool) => [tool, reads.includes(tool) ? "read" : returns.includes(tool) ? "money" : "write_reversible"])
  ),
  meters: { money_back: { op: "count", where: { tool: returns }, window_ms: 86_400_000, key: ["agent_id"] } },
  rules: [
    { id: "look", outcome: "allow", when: [{ signal: "tool", in: reads }] },
    { id: "change", outcome: "allow", when: [{ signal: "tool", in: changes }] },
    {
      id: "money_back",
      outcome: "allow",
      when: [
        { signal: "tool", in: returns },
        { signal: "items", lte: 2 }
      ]
    },
    {
      id: "large",
      outcome: "require_review",
      when: [
        { signal: "tool", in: returns },
        { signal: "items", gte: largest }
      ]
    },
    {
      id: "often",
      outcome: "require_review",
      when: [
        { signal: "tool", in: returns },
        { meter: "money_back", after_gt: 1 }
      ]
    },
    { id: "identity", outcome: "deny", when: [{ signal: "tool", in: ["modify_user_address"] }] }
  ],
  default: { outcome: "deny" },
  coverage: "total"
})

/** How many items a call names. */
export const itemsOf = (args: unknown): number => {
  const items =
    typeof args === "object" && args !== null ? (args as { readonly item_ids?: unknown }).item_ids : undefined
  return Array.isArray(items) ? items.length : 0
}

/** Bounds an agent and evaluates what it did. */
export const bound = async ({
  agent,
  calls,
  key,
  server
}: {
  readonly agent: { readonly id: string; readonly name: string }
  readonly calls: ReadonlyArray<ToolCall>
  readonly key: string
  readonly server: RunningServer
}): Promise<Bounded> => {
  const ask = async (token: string, method: string, path: string, expected: number, body?: unknown) => {
    const { bytes, json, status } = await server.call(method, `/api/v1/${path}`, token, body)
    if (status !== expected)
      throw new Error(
        `${method} ${path} answered ${status}, not ${expected}: ${new TextDecoder().decode(bytes).slice(0, 500)}`
      )
    return json
  }
  const person = async (name: string): Promise<string> =>
    (await server.flyball("token", "--role", "governor", "--sub", name)).stdout.trim()
  const [ann, ben] = [await person("ann"), await person("ben")]

  await ask(ann, "POST", `agents/${agent.id}/transfer-ownership`, 200, {
    owner_name: "Ada Lovelace",
    owner_email: "ada@example.org"
  })
  await ask(ann, "POST", `agents/${agent.id}/activate`, 200)
  const { id } = await ask(ann, "POST", "bound/envelopes", 201, {
    name: "Returns and cancellations",
    agent_id: agent.id,
    envelope: envelopeOf(4)
  })
  const lint = await ask(ann, "POST", `bound/envelopes/${id}/lint`, 200, {})
  const mistake = lint.findings.find((finding: { level: string }) => finding.level === "error")
  const refused = await server.call("POST", `/api/v1/bound/envelopes/${id}/publish`, ben, {})
  await ask(ann, "PATCH", `bound/envelopes/${id}`, 200, { envelope: envelopeOf(3) })
  const diff = await ask(ann, "GET", `bound/envelopes/${id}/diff`, 200)
  const alone = await server.call("POST", `/api/v1/bound/envelopes/${id}/publish`, ann, {})
  await ask(ben, "POST", `bound/envelopes/${id}/publish`, 200, {})
  await ask(ben, "PATCH", `agents/${agent.id}`, 200, { autonomy_tier: "L2" })

  const counts = new Map<string, number>()
  const toReview: Array<ToolCall> = []
  let denied = -1
  for (const { action, args, ref } of calls) {
    const made = await ask(key, "POST", "bound/evaluations", 201, {
      agent_id: agent.id,
      client_ref: ref,
      action,
      args: args ?? {},
      signals: { tool: action, items: itemsOf(args) }
    })
    counts.set(made.outcome, (counts.get(made.outcome) ?? 0) + 1)
    if (made.outcome === "require_review") toReview.push({ action, args, ref })
    if (made.outcome === "deny") denied = made.seq
  }

  return {
    agent: agent.name,
    mistake: { code: mistake.code, example: JSON.stringify(mistake.example), refused: refused.json.code },
    alone: alone.json.code,
    newlyAllowed: String(diff.transitions.filter((one: { direction: string }) => one.direction === "loosens").length),
    evaluations: calls.length,
    outcomes: [...counts].sort(([a], [b]) => (a < b ? -1 : 1)),
    toReview,
    denied
  }
}

/** Its lines of the page. */
export const boundLines = ({
  agent,
  alone,
  evaluations,
  mistake,
  newlyAllowed,
  outcomes
}: Bounded): ReadonlyArray<string> => [
  `An envelope was written for ${agent}: it may look things up, change orders, and give money back for up to 2 ` +
    "items, once a day. At its tier, L2, a person approves whatever moves money.",
  `Its first draft had a gap (${mistake.code}), so nobody could publish it (${mistake.refused}). An example: ` +
    `${mistake.example}`,
  `Corrected, it newly allows ${newlyAllowed} kinds of action, so its author alone could not publish it ` +
    `(${alone}); a second person did.`,
  `The agent's ${evaluations} real tool calls were then evaluated: ` +
    `${outcomes.map(([outcome, count]) => `${count} ${outcome}`).join(", ")}.`
]
