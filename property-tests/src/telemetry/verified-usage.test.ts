/** The figures of a governor's life on every store, and that `flyball-verify --usage` counts the same from its pack. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  Agents,
  Breakers,
  Capture,
  Drills,
  Kill,
  Models,
  Reviews,
  Telemetry,
  unitScope,
  recordExpected
} from "@flyball/core"
import { memoryStorage } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run } from "../../../apps/verify/src/run.ts"
import {
  activeAgent,
  ann,
  ask,
  beginMs,
  ben,
  exported,
  host,
  inBoundedWorld,
  publish,
  refunds
} from "../replay-verdicts/bounded-world.ts"

const database = givenDatabase({ beforeAll, afterAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-usage-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let refs = 0
const witness = (agentId: string, status: "ok" | "intended", model: string, usage: object) =>
  Capture.use((capture) =>
    capture.witness(
      agentId,
      [
        {
          client_ref: `ref-${refs++}`,
          kind: "model_call",
          action: "complete",
          status,
          model,
          usage,
          instance_id: "pod"
        }
      ],
      host
    )
  ).pipe(Effect.map(({ receipts }) => receipts[0]!.decision_id))
const later = (seconds: number) => TestClock.adjust(seconds * 1_000)

/** A model whose price changes, a decision settled, a drill, and halts by a person and by a breaker. */
const life = Effect.gen(function* () {
  const { create, update } = yield* Models
  const kill = yield* Kill
  const paying = yield* activeAgent("refund bot")
  const other = yield* activeAgent("search bot", "sales")
  yield* publish({ agent_id: paying }, refunds())
  const priced = yield* create(
    {
      provider: "acme",
      name: "gpt-9",
      price: { input_micro_usd_per_mtok: 2_500_000, output_micro_usd_per_mtok: 10_000_000 }
    },
    ben
  )
  yield* later(60)
  yield* witness(paying, "ok", "gpt-9", { input_tokens: 1_000, output_tokens: 100, cost_micro_usd: 4_000 })
  const intended = yield* witness(paying, "intended", "acme/gpt-9", { input_tokens: 500 })
  yield* update(priced.id, { price: { input_micro_usd_per_mtok: 5_000_000, output_micro_usd_per_mtok: null } }, ben)
  yield* Capture.use((capture) =>
    capture.settle(intended, { status: "ok", usage: { input_tokens: 700, output_tokens: 9 } }, host)
  )
  yield* witness(other, "ok", "unheard-of", { input_tokens: 40, output_tokens: 2 })
  yield* ask(paying, { tool: "search" })
  yield* ask(paying, { tool: "refund", amount: 100 })
  yield* ask(other, { tool: "search" })
  const drill = yield* Drills.use((drills) =>
    drills.start({ target_type: "agent", target_id: paying, mode: "live", scenario: "x", slo_ms: 1_000 }, ann)
  )
  yield* later(5)
  yield* Drills.use((drills) => drills.complete(drill.id, ann))
  const halt = yield* kill.activate({ target_type: "agent", target_id: paying, response: "halt", reason: "r" }, ann)
  yield* recordExpected
  yield* later(2)
  yield* kill.ack({ activation_event: halt.activation_event!, instance_id: "pod", stopped: true }, host)
  yield* later(28)
  yield* kill.release({ activation_event: halt.activation_event!, reason: "Fixed." }, ben)
  const breakers = yield* Breakers
  yield* breakers.arm(
    other,
    { name: "errors", metric: "consecutive_failures", params: { max_count: 2 }, enabled: true, mode: "enforce" },
    ben
  )
  yield* later(1)
  const failed = Capture.use((capture) =>
    capture.witness(
      other,
      [{ client_ref: `ref-${refs++}`, kind: "tool_call", action: "search", status: "error" }],
      host
    )
  )
  yield* failed
  yield* later(7)
  yield* Effect.suspend(() => failed)
  yield* breakers.check()
  yield* kill.activate({ target_type: "model", target_id: "gpt-9", response: "step_down", reason: "r" }, ann)
  yield* later(10)
  const telemetry = yield* Telemetry
  const usage = yield* telemetry.usage()
  return {
    paying,
    other,
    usage,
    first: yield* telemetry.usage({ to: new Date(beginMs + 60_000).toISOString() }),
    unit: yield* telemetry.usage({}, unitScope("support")),
    ...(yield* exported({ kind: "full" }))
  }
})

const counted = async (
  pack: Uint8Array,
  vkey: string,
  { from, to }: { readonly from: string; readonly to: string }
) => {
  const file = join(folder, "pack.evp")
  writeFileSync(file, pack)
  const call = async (...more: ReadonlyArray<string>) => {
    let out = ""
    const status = await run([file, "--vkey", vkey, "--usage", `${from}/${to}`, ...more], {
      out: async (text) => void (out += text),
      err: async (text) => void (out += text),
      nowMs: () => 0,
      isTerminal: false
    })
    return { status, out }
  }
  const { out, status } = await call("--json")
  return { status, usage: JSON.parse(out).usage, text: (await call()).out.replaceAll(/\s+/g, " ") }
}

describe.each([
  ["memory", true, () => memoryStorage()],
  ["SQLite", true, () => sqliteStorage({ file: ":memory:" })],
  // Its records are dated by its own clock.
  ["Postgres", false, () => postgresStorage({ url: database.url, schema: "usage" })]
] as const)("on %s", (_, isClocked, open) => {
  it("usage has the prices of its time, drills are no incidents, and the verifier counts the same", async () => {
    const { first, other, pack, paying, unit, usage, vkey } = await inBoundedWorld(life, open())
    const agents = new Map(usage.agents.map((agent) => [agent.agent_id, agent]))
    expect(agents.get(paying)).toMatchObject({
      decisions: 2,
      // The refund is above what the tier L1 may do.
      evaluations: { allow: 1, allow_with_notice: 0, require_review: 0, deny: 1, halt: 0 },
      input_tokens: 1_700,
      output_tokens: 109,
      // 1,000 in and 100 out, then 500 in at the first price; 200 in at the second, which has none for 9 out.
      cost_micro_usd: 2_500 + 1_000 + 1_250 + 1_000,
      unpriced_tokens: 9,
      stated_cost_micro_usd: 4_000
    })
    expect(agents.get(other)).toMatchObject({
      decisions: 3,
      evaluations: { allow: 0, deny: 1 },
      input_tokens: 40,
      cost_micro_usd: null,
      unpriced_tokens: 42,
      models: [{ model: "unheard-of", cost_micro_usd: null }]
    })
    expect(usage.incident).toMatchObject({
      count: 1,
      open_incidents: [
        { target_type: "agent", target_id: other },
        { target_type: "model", target_id: "gpt-9" }
      ]
    })
    if (isClocked)
      expect(usage.incident).toMatchObject({
        mttr_ms: 30_000,
        median_ms: 30_000,
        max_ms: 30_000,
        // Of the breaker alone: 7 s from the first failure in its window to the trip.
        mttd_ms: 7_000,
        // The halt after 2 s. The two others are open and not over the bound.
        mttc_ms: 2_000,
        open_incidents: [{ age_ms: 10_001 }, { age_ms: 10_001 }]
      })
    expect(first.agents).toEqual([])
    expect(unit.agents.map(({ agent_id: id }) => id)).toEqual([paying])
    expect(unit.incident).toMatchObject({ count: 1, mttd_ms: null, open_incidents: [] })

    const verified = await counted(pack, vkey, usage)
    expect(verified.usage).toEqual(usage)
    expect(verified.status).toBe(0)
    expect(verified.text).toContain(`5 decisions of 2 agents, 1740 tokens in and 111 out, 5750 micro-USD.`)
    expect(verified.text).toContain(`${paying}: 2 decisions; evaluations allow 1,`)
    expect(await counted(pack, vkey, first)).toMatchObject({ status: 0, usage: first })
  })
})

it("the verifier counts reviews: resolutions, durations and open ones", async () => {
  const person = { id: `usr_${"0".repeat(25)}4` }
  const { agentId, pack, usage, vkey } = await inBoundedWorld(
    Effect.gen(function* () {
      const reviews = yield* Reviews
      const agents = yield* Agents
      const agentId = yield* activeAgent("refund bot")
      yield* publish({ agent_id: agentId }, refunds())
      yield* agents.update(agentId, { autonomy_tier: "L2" }, ben)
      let amount = 5_000
      const opened = Effect.suspend(() =>
        Effect.map(ask(agentId, { tool: "refund", amount: ++amount }), ({ review_id: id }) => id!)
      )
      const answer = (id: string, resolution: "approve" | "reject") =>
        reviews.resolve(id, { resolution, reason: "Seen." }, { writer: person, grants: "any", email: null })
      const first = yield* opened
      yield* later(4)
      yield* answer(first, "approve")
      const second = yield* opened
      yield* later(60)
      yield* answer(second, "reject")
      yield* opened
      yield* later(7)
      return { agentId, usage: yield* Telemetry.use(({ usage }) => usage()), ...(yield* exported({ kind: "full" })) }
    })
  )
  expect(usage.reviews).toEqual({
    opened: 3,
    approved: 1,
    rejected: 1,
    amended: 0,
    expired: 0,
    cancelled: 0,
    wait_ms: { p50: 4_000, p95: 60_000 },
    decision_ms: { p50: 4_000, p95: 60_000 },
    overturn_bp: 5_000,
    approvals_under_5s: 1,
    open: 1,
    oldest_open_ms: 7_001
  })
  expect(usage.agents).toMatchObject([
    { agent_id: agentId, evaluations: { require_review: 3 }, reviews: usage.reviews }
  ])
  expect((await counted(pack, vkey, usage)).usage).toEqual(usage)
})

it("the verifier needs a full pack and a window for usage", async () => {
  const { pack, vkey } = await inBoundedWorld(
    Effect.andThen(activeAgent("refund bot"), exported({ kind: "range", from: 1, to: 2 }))
  )
  const window = { from: "2026-11-01T00:00:00Z", to: "2026-12-01T00:00:00Z" }
  const range = await counted(pack, vkey, window)
  expect(range).toMatchObject({ status: 2, usage: null })
  expect(range.text).toContain("No usage was counted: that needs a full pack")
  let said = ""
  const status = await run(["x.evp", "--usage", `${window.to}/${window.from}`], {
    out: async () => undefined,
    err: async (text) => void (said += text),
    nowMs: () => 0,
    isTerminal: false
  })
  expect(status).toBe(4)
  expect(said).toContain("--usage takes FROM/TO")
})
