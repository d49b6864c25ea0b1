import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { DecisionIn, McpScreenOut } from "@flyball/contract"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { unitScope } from "../../foundation/scope.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { followPolicy } from "../../outward/policy/policy-follower.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { ann, key } from "../../verdicts/evaluations/testing/refunds.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { ResponsePolicies } from "../../verdicts/response-policy/service.ts"
import { type Altered, alteredLife, LEFT_OUT, says } from "../../verdicts/kill/testing/altered.ts"
import { ToolServers } from "./service.ts"

const folder = new URL("../../../../../fixtures/mcp-manifests/", import.meta.url)
const fixture = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8"))
/** The list of a real server as it came over the wire. */
const filesystem = (version: string): { readonly tools: ReadonlyArray<object> } =>
  fixture(`official_servers/server-filesystem@${version}.json`).tools_list_pages[0]
const [older, newer] = [filesystem("2025.8.21"), filesystem("2025.11.25")]
const rugPull = fixture("known_poisoned_cases.json").cases[0]
const weather = (description: string) => ({
  tools: [{ name: "get_weather_forecast", description, inputSchema: { type: "object", properties: {} } }]
})

let refs = 0
const witness = (agentId: string, ...decisions: ReadonlyArray<Omit<DecisionIn, "client_ref" | "status">>) =>
  Capture.use((capture) =>
    capture.witness(
      agentId,
      decisions.map((one) => ({ client_ref: `r${refs++}`, status: "ok", ...one })),
      key
    )
  )
const stdio = { mcp: { transport: "stdio", address_digest: `sha256:${"0a".repeat(32)}` } }
const listed = (agentId: string, result: unknown, more: Partial<DecisionIn> = {}) =>
  witness(agentId, { action: "tools/list", kind: "tool_list", tool_server: "files", labels: stdio, result, ...more })
const called = (agentId: string, action: string, more: Partial<DecisionIn> = {}) =>
  witness(agentId, { action, kind: "tool_call", tool_server: "files", ...more })
const screened: Effect.Effect<McpScreenOut, unknown, ToolServers> = ToolServers.use((servers) => servers.screen())
/** That documents are those that the records say there are. */
const replayed = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
})

describe("a screen of one org unit", () => {
  it.effect("shows its finding behind hundreds of others, and says where there are more than it shows", () =>
    Effect.gen(function* () {
      const servers = yield* ToolServers
      const { id: mine } = yield* registered("courier")
      const { id: other } = yield* registered("clerk", "sales")
      for (const text of ["sunny", "rainy"]) yield* listed(mine, weather(text))
      // Ids sort by time.
      yield* TestClock.adjust("1 minutes")
      for (let at = 0; at < 202; at++) yield* listed(other, weather(`weather ${at}`))
      const { findings, scope } = yield* servers.screen({}, unitScope("ops"))
      assert.deepStrictEqual([findings.length, scope.truncated], [1, false])
      const all = yield* servers.screen()
      assert.deepStrictEqual([all.findings.length, all.scope.truncated], [200, true])
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("a tool server", () => {
  it.effect("is known by its address, and its first list is trusted until a person pins one", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* listed(id, older)
      yield* listed(id, { tools: older.tools.toReversed() }, { tool_server: "renamed" })
      const servers = yield* ToolServers
      const { findings, servers: seen } = yield* servers.screen()
      assert.deepStrictEqual(findings, [])
      assert.strictEqual(seen.length, 1)
      const [server] = seen
      assert.deepInclude(server, { transport: "stdio", tool_server: "renamed", tools: 14, state: "first_seen" })
      const pinned = yield* servers.pin({ server_id: server!.id, manifest_digest: server!.manifest_digest }, ann)
      assert.deepInclude(pinned, { state: "pinned", pinned_digest: server!.manifest_digest })
      const wrong = { server_id: server!.id, manifest_digest: `sha256:${"0b".repeat(32)}` }
      assert.strictEqual((yield* Effect.flip(servers.pin(wrong, ann)))._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(servers.pin(wrong, ann, unitScope("other"))))._tag, "McpServerNotFound")
      assert.deepStrictEqual((yield* servers.screen({}, unitScope("other"))).servers, [])
      yield* replayed
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("that lists other tools has a finding with the calls that were exposed, until somebody resolves it", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const servers = yield* ToolServers
      yield* listed(id, older)
      yield* called(id, "read_file")
      yield* listed(id, newer)
      yield* called(id, "read_file")
      yield* called(id, "rm")
      yield* listed(id, newer)
      const { findings, servers: seen, tool_calls: calls, totals } = yield* screened
      assert.strictEqual(findings.length, 1)
      const [finding] = findings
      assert.deepInclude(finding, {
        against: "seen",
        severity: "medium",
        state: "open",
        tools: 14,
        calls_since_change: 1
      })
      assert.deepStrictEqual(finding!.agents_exposed, [id])
      assert.deepStrictEqual(totals.open, 1)
      assert.strictEqual(seen[0]!.state, "changed")
      assert.deepStrictEqual(
        calls.map(({ calls, tool, unmanifested }) => [tool, calls, unmanifested]),
        [
          ["rm", 1, 1],
          ["read_file", 2, 0]
        ]
      )
      const resolved = yield* servers.resolve(finding!.id, { resolution: "approved", reason: "the new release" }, ann)
      assert.strictEqual(resolved.state, "approved")
      const again = servers.resolve(finding!.id, { resolution: "rejected" }, ann)
      assert.strictEqual((yield* Effect.flip(again))._tag, "FindingResolved")
      assert.deepInclude((yield* screened).servers[0], { state: "pinned", pinned_digest: finding!.manifest_digest })
      // Back to the list before: it is not the one that a person approved.
      yield* listed(id, older)
      assert.deepInclude((yield* screened).findings[0], { against: "pin", tools: 14 })
      yield* listed(id, newer)
      yield* listed(id, older)
      assert.strictEqual((yield* screened).findings.length, 2)
      yield* servers.resolve((yield* screened).findings[0]!.id, { resolution: "rejected" }, ann)
      yield* listed(id, older)
      assert.strictEqual((yield* screened).findings.length, 2)
      yield* listed(id, newer)
      yield* listed(id, older)
      assert.strictEqual((yield* screened).findings.length, 3)
      yield* replayed
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("that turns on its users is named with the text and its signals", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* listed(id, weather(rugPull.before))
      yield* listed(id, weather(rugPull.after))
      const [finding] = (yield* screened).findings
      assert.deepInclude(finding, { severity: "high", tools: 1, owasp: ["MCP03"] })
      assert.deepStrictEqual(
        [...new Set(finding!.changes[0]!.signals.map(({ rule }) => rule))],
        ["pseudo_tag", "conceal", "secret_path", "precondition"]
      )
      assert.include(finding!.texts![0]!.added, "<IMPORTANT>")
      // At first sight too: another server, which was poisoned from the start.
      yield* listed(id, weather(`\u{e0041}${rugPull.after}`), { tool_server: "other", labels: null })
      const [first] = (yield* screened).findings
      assert.deepInclude(first, { against: "first_seen", severity: "high" })
      assert.include(first!.texts![0]!.added, "\\u{e0041}")
      yield* Erasure.use((erasure) => erasure.erase({ seq: finding!.seq, name: "texts", reason: "security" }, ann))
      assert.isNull((yield* screened).findings.find((one) => one.id === finding!.id)!.texts)
      yield* replayed
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has its pages put together, and a part of a list takes nothing away", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const page = (from: number, to: number, nextCursor?: string) => ({
        tools: older.tools.slice(from, to),
        ...(nextCursor === undefined ? {} : { nextCursor })
      })
      const walked = Effect.gen(function* () {
        yield* listed(id, page(0, 5, "a"))
        yield* listed(id, page(5, 10, "b"), { args: { cursor: "a" } })
        yield* listed(id, page(10, 14), { args: { cursor: "b" } })
      })
      yield* walked
      yield* walked
      yield* listed(id, older)
      yield* listed(id, page(0, 5, "a"))
      const { findings, servers } = yield* screened
      assert.deepStrictEqual(findings, [])
      assert.deepInclude(servers[0], { tools: 14, coverage: "complete", state: "first_seen" })
      for (const named of ["files", servers[0]!.id])
        assert.deepStrictEqual<unknown>(yield* ToolServers.use((one) => one.tools(named)), older.tools)
      assert.isNull(yield* ToolServers.use((one) => one.tools("shop")))
      yield* replayed
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("whose list cannot be read is a change, and nobody can approve it", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const servers = yield* ToolServers
      yield* listed(id, older)
      const tools = Array.from({ length: 10_001 }, (_, at) => ({ name: `t${at}` }))
      for (const wrong of [{ tools }, { tools: [{ name: 1 }] }, { tools: "none" }, 7, null, { tools: [null] }]) {
        yield* listed(id, wrong)
        const [finding] = (yield* screened).findings
        assert.deepInclude(finding!.changes[0], { change: "unreadable", severity: "high" })
        assert.strictEqual(
          (yield* Effect.flip(servers.resolve(finding!.id, { resolution: "approved" }, ann)))._tag,
          "InvalidInput"
        )
      }
      yield* listed(id, { tools: tools.slice(0, 10_000) })
      assert.deepInclude((yield* screened).servers[0], { tools: 10_000 })
      yield* listed(id, { tools: [...older.tools, older.tools[0]!] })
      assert.deepInclude((yield* screened).findings[0]!.changes.at(-1), { change: "removed" })
      yield* replayed
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is the same when a person sends its list, and a repeated decision changes nothing", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const servers = yield* ToolServers
      const one = { client_ref: "once", status: "ok", action: "tools/list", kind: "tool_list", result: older } as const
      const send = Capture.use((capture) => capture.witness(id, [{ ...one, tool_server: "files" }], key))
      yield* send
      const head = yield* Effect.flatMap(Storage, (storage) => storage.head)
      yield* send
      assert.deepStrictEqual(yield* Effect.flatMap(Storage, (storage) => storage.head), head)
      const server = yield* servers.upload({ agent_id: id, tool_server: "files", manifest: older }, ann)
      assert.strictEqual((yield* screened).servers.length, 1)
      assert.deepInclude(server, { transport: "named", state: "first_seen" })
      const web = { agent_id: id, address: "https://mcp.example.org/mcp", manifest: older }
      assert.strictEqual((yield* servers.upload(web, ann)).transport, "http")
      assert.strictEqual((yield* screened).similar_names.length, 14)
      assert.strictEqual((yield* Effect.flip(servers.upload({ ...web, command: ["x"] }, ann)))._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(servers.upload(web, ann, unitScope("other"))))._tag, "AgentNotFound")
      yield* replayed
    }).pipe(Effect.provide(governorWorld()))
  )
})

const altered = alteredLife(
  Effect.gen(function* () {
    const servers = yield* ToolServers
    const { id } = yield* registered("courier")
    yield* listed(id, weather(rugPull.before))
    yield* listed(id, weather(rugPull.before))
    const [server] = (yield* screened).servers
    yield* servers.pin({ server_id: server!.id, manifest_digest: server!.manifest_digest }, ann)
    yield* listed(id, weather(rugPull.after))
    const [finding] = (yield* screened).findings
    yield* servers.resolve(finding!.id, { resolution: "rejected" }, ann)
    yield* listed(id, weather("Tells the weather."))
    yield* servers.resolve((yield* screened).findings[0]!.id, { resolution: "approved" }, ann)
    const rows = [{ scope: "default", trigger: "mcp", response: "halt", notify: [] }] as const
    yield* ResponsePolicies.use((policies) => policies.set(rows, ann))
    yield* followPolicy(false, 0)
  })
)

describe("replay of tool servers", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect("calls nothing wrong of lists that are not shown", () =>
    Effect.map(
      altered(
        ...[0, 1, 2, 3, 4, 5].flatMap((place) =>
          ["manifest", "mcp_digests"].map((hides): Altered<void> => ["mcp.manifest_seen", place, { hides }])
        )
      ),
      (found) => assert.deepStrictEqual([...new Set(found)], ["withheld"])
    )
  )

  const digest = "0c".repeat(32)
  it.effect("finds a finding about another list than one that is not shown", () =>
    Effect.map(
      altered(...["manifest", "mcp_digests"].map((hides): Altered<void> => ["mcp.manifest_seen", 2, { hides }]), [
        "mcp.manifest_changed",
        0,
        says({ root: digest })
      ]),
      (found) => assert.include(found, "manifest_mismatch")
    )
  )

  it.effect.each([
    ["another list", ["mcp.manifest_seen", 0, { part: "manifest", json: weather("Another.") }], "manifest_mismatch"],
    ["a root that is not the list's", ["mcp.manifest_seen", 0, says({ root: digest })], "manifest_mismatch"],
    [
      "a change that says that nothing changed",
      ["mcp.manifest_seen", 2, says({ state: "known" })],
      "manifest_mismatch"
    ],
    ["a changed list that counts as approved", ["mcp.manifest_seen", 2, says({ trusted: true })], "manifest_mismatch"],
    ["a milder severity", ["mcp.manifest_changed", 0, says({ severity: "low" })], "manifest_mismatch"],
    ["another layer", ["mcp.manifest_changed", 0, says({ layers: ["hints"] })], "manifest_mismatch"],
    ["other signals", ["mcp.manifest_changed", 0, { part: "mcp_changes", json: [] }], "manifest_mismatch"],
    ["a finding that is left out", ["mcp.manifest_changed", 0, LEFT_OUT], "manifest_mismatch"],
    ["a pin that is left out", ["mcp.pinned", 0, LEFT_OUT], "manifest_mismatch"],
    ["a pin of a list that nobody saw", ["mcp.pinned", 0, says({ root: digest })], "reference_mismatch"],
    ["a finding that is approved without a pin", ["mcp.pinned", 1, LEFT_OUT], "manifest_mismatch"],
    ["a list of another tool server", ["mcp.manifest_seen", 0, says({ tool_server: "other" })], "reference_mismatch"],
    ["a pin by a key", ["mcp.pinned", 0, says({ writer: key.id })], "writer_mismatch"],
    ["an answer by a key", ["finding.resolved", 0, says({ writer: key.id })], "writer_mismatch"],
    [
      "an answer to no finding",
      ["finding.resolved", 0, says({ finding_id: `fnd_${"0".repeat(26)}` })],
      "reference_mismatch"
    ],
    ["a milder response than the policy's", ["kill.activated", 0, says({ response: "drain" })], "response_mismatch"],
    ["a response without a policy", ["response_policy.changed", 0, LEFT_OUT], "response_mismatch"],
    ["a list that no decision brought", ["decision.witnessed", 0, LEFT_OUT], "reference_mismatch"],
    ["a server of another address", ["mcp.manifest_seen", 0, says({ address_digest: digest })], "manifest_mismatch"],
    ["texts that are not shown", ["mcp.manifest_seen", 2, { hides: "manifest" }], "withheld"],
    ["digests that are not shown", ["mcp.manifest_seen", 0, { hides: "mcp_digests" }], "ok"]
  ] as ReadonlyArray<readonly [string, Altered<void>, string]>)("finds %s", ([, change, verdict]) =>
    Effect.map(altered(change), (found) =>
      verdict === "ok" ? assert.deepStrictEqual(found, []) : assert.include(found, verdict)
    )
  )
})
