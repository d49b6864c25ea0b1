/** `flyball why` on SQLite beside a running server, and over HTTP by a person who signed in. */
import { mkdirSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, type RunningServer } from "./testing/commands.ts"

let me: Operator
let server: RunningServer
let admin: string
let ben: string
beforeAll(async () => {
  me = operator()
  server = await me.serve()
  const tokens = [["admin"], ["governor", "--sub", "ben"]].map((who) => me.flyball(["token", "--role", ...who]))
  ;[admin, ben] = (await Promise.all(tokens)).map(({ out }) => out.trim()) as [string, string]
})
afterAll(() => me.leave())

// oxlint-disable-next-line no-explicit-any
const post = async (path: string, body: object, token = admin): Promise<any> => {
  const answer = await fetch(`${server.url}/api/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const json = await answer.json()
  assert.isBelow(answer.status, 300, JSON.stringify(json))
  return json
}

describe("flyball why", { timeout: 120_000 }, () => {
  it("says in words why an agent was denied, and what to do", async () => {
    const { id: agent } = await post("agents", {
      name: "payer",
      org_unit: "ops",
      owner_name: "Ada",
      owner_email: "ada@example.org"
    })
    let refs = 0
    const intend = (signals: object) =>
      post("bound/evaluations", { agent_id: agent, client_ref: String(++refs), action: "pay", signals })
    const envelope = {
      semantics: "envelope/1",
      signals: {
        tool: { type: "enum", values: ["read", "pay"], source: "caller" },
        amount: { type: "int", min: 0, max: 1000, source: "caller" }
      },
      effects: { read: "read", pay: "read" },
      rules: [
        { id: "small", outcome: "allow", when: [{ signal: "tool", in: ["pay"] }] },
        { id: "large", outcome: "deny", reason: "Above 500 a person pays", when: [{ signal: "amount", gt: 500 }] }
      ],
      default: { outcome: "deny" }
    }
    await intend({})
    await post(`agents/${agent}/activate`, {})
    await intend({})
    const { id: envelopeId } = await post("bound/envelopes", { name: "payments", agent_id: agent, envelope })
    await post(`bound/envelopes/${envelopeId}/publish`, {}, ben)
    await intend({ tool: "pay", amount: 900 })
    await intend({ tool: "read", amount: 1 })
    await intend({ tool: "pay" })
    await intend({ tool: "pay", amount: 1 })
    await post("bound/kill/activate", { target_type: "agent", target_id: agent, reason: "it pays twice" })
    await intend({ tool: "pay", amount: 1 })

    const { err, out, status } = await me.flyball(["why", "payer", "--last", "9"])
    assert.deepEqual([status, err], [0, ""])
    const at = (text: string): number => {
      assert.include(out, text)
      return out.indexOf(text)
    }
    const order = [
      `payer (${agent}) is active, at tier L0.`,
      `HALTED: payer (${agent}). No new side effect begins`,
      "Its last 6 denials, newest first:",
      "by @killed\n  The kill switch was on",
      `  To do: flyball kill-status ${agent} shows the halt; when its cause is gone, flyball release kil_`,
      "by @missing_signal\n",
      "amount",
      "  To do: correct the call",
      "by @default\n",
      `To do: no rule covers the call: correct it, or publish a version of ${envelopeId} that does.`,
      "by large\n  The rule `large` decides: the action is denied. Its reason: Above 500 a person pays.",
      "  To do: the rule is meant to stop this.",
      "by @no_envelope\n",
      "  To do: draft an envelope",
      "by @not_active\n",
      "  To do: when its cause is gone, a governor activates it"
    ].map(at)
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b)
    )
    assert.lengthOf(out.match(/ "pay" \(evl_/g)!, 6)

    const session = { token: ben, url: server.url, expiresAtMs: Number.MAX_SAFE_INTEGER }
    mkdirSync(me.path("flyball"), { mode: 0o700 })
    writeFileSync(me.path("flyball", "session.json"), JSON.stringify(session), { mode: 0o600 })
    const variables = { XDG_CONFIG_HOME: me.folder }
    const [two, unknown, token, remote, elsewhere] = await Promise.all([
      me.flyball(["why", agent, "--last", "2", "--json"]),
      me.flyball(["why", "nobody", "--remote"], variables),
      me.flyball(["login", "--token"], variables),
      me.flyball(["why", "payer", "--last", "9", "--remote"], variables),
      me.flyball(["why", "payer", "--remote"], { XDG_CONFIG_HOME: me.path("none") })
    ])
    const { denials, open_reviews: reviews } = JSON.parse(two!.out)
    assert.deepEqual([denials.length, reviews], [2, []])
    assert.deepEqual(
      [unknown!.status, unknown!.err],
      [1, 'flyball why: there is no agent with the id or exact name "nobody".\n']
    )
    assert.deepEqual([token!.out, remote!.out], [`${ben}\n`, out])
    assert.deepEqual([elsewhere!.status, elsewhere!.err.includes("Run flyball login first")], [1, true])
  })
})
