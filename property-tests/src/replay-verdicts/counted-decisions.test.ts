/** Packs with a fairness screen and a calibrated breaker: what the verifier counts again, and what it leaves open. */
import {
  Agents,
  Breakers,
  Capture,
  Chain,
  Checkpointer,
  ephemeralKeys,
  FairnessScreens,
  governorLayer,
  keysLayerOf,
  Packs,
  systemHost
} from "@flyball/core"
import type { PackRequest } from "@flyball/contract"
import { layerOf, memoryStorage } from "@flyball/core/storage"
import { concatBytes } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { assert, beforeAll, describe, it } from "vitest"
import { replayedForProgram, type ReplayedPack } from "./replayed.ts"

const packOf = Effect.fnUntraced(function* (request: PackRequest) {
  yield* Checkpointer.use(({ now }) => now)
  const chunks = yield* Packs.use((packs) => packs.export(request))
  const gathered: Array<Uint8Array> = []
  yield* Effect.promise(async () => {
    for await (const chunk of chunks) gathered.push(Uint8Array.from(chunk))
  })
  return concatBytes(...gathered)
})

const writer = { id: `usr_${"0".repeat(26)}` }

/** Ten runs of an agent with labels, a screen, and a breaker that the runs calibrate. */
const world = Effect.gen(function* () {
  const { agent } = yield* Agents.use((agents) =>
    agents.register({ name: "recruiter", org_unit: "ops", owner_name: "Ada" }, systemHost)
  )
  const { receipts } = yield* Capture.use((capture) =>
    capture.witness(
      agent.id,
      Array.from({ length: 100 }, (_, at) => ({
        client_ref: `d${at}`,
        run_id: `run-${Math.floor(at / 10)}`,
        kind: "other" as const,
        action: "hire",
        status: "ok" as const,
        labels: { sex: at % 2 === 0 ? "m" : "f", hired: at % 2 === 0 || at % 10 === 1 }
      })),
      systemHost
    )
  )
  const outcome = { source: "labels", path: "/hired", positive: [true] } as const
  const screen = yield* FairnessScreens.use((screens) =>
    screens.screen({ agent_id: agent.id, group: "/sex", outcome }, writer)
  )
  const breaker = yield* Breakers.use((breakers) =>
    breakers.arm(
      agent.id,
      {
        name: "steps",
        metric: "action_velocity",
        params: { window_ms: 60_000, per: "run" },
        enabled: true,
        mode: "warn",
        max_false_stop_bp: 1_000,
        good_runs: { from_seq: 0, to_seq: receipts.at(-1)!.seq }
      },
      writer
    )
  )
  assert.deepStrictEqual([screen.verdict, breaker.params["max_count"]], ["demonstrated", 10])
  return {
    vkey: (yield* Chain).vkey,
    whole: yield* packOf({ kind: "full", disclose: "all" }),
    bare: yield* packOf({ kind: "full", disclose: "none" }),
    question: yield* packOf({ kind: "full", disclose: ["good_runs", "screen"] }),
    later: yield* packOf({ kind: "range", from: receipts[50]!.seq, disclose: "all" })
  }
}).pipe(
  Effect.provide(
    governorLayer({ origin: "flyball.example/counted" }).pipe(
      Layer.provideMerge(layerOf(memoryStorage())),
      Layer.provide(keysLayerOf(ephemeralKeys()))
    )
  )
)

let packs: Effect.Success<typeof world>
beforeAll(async () => void (packs = await Effect.runPromise(world)))

/** Seqs apart, the reasons of what is open; and what is wrong. */
const found = ({ replay }: ReplayedPack) => ({
  wrong: replay!.mismatches.map(({ reason }) => reason),
  open: replay!.withheld.map(({ reason }) => reason)
})
const replay = async (pack: Uint8Array) => found(await replayedForProgram(pack, packs.vkey))

describe("a pack with a screen and a calibrated breaker", () => {
  it("is counted again where all is disclosed", async () =>
    assert.deepStrictEqual(await replay(packs.whole), { wrong: [], open: [] }))

  it("is open where the questions are not disclosed, or the labels", async () => {
    assert.deepStrictEqual(await replay(packs.bare), {
      wrong: [],
      open: ["The question of the screen is not shown.", "Which runs of the range do not count is not shown."]
    })
    assert.deepStrictEqual(await replay(packs.question), {
      wrong: [],
      open: ["The labels of a decision of the window are not shown."]
    })
  })

  it("is open where it begins behind some of the decisions", async () =>
    assert.deepStrictEqual(await replay(packs.later), {
      wrong: [],
      open: [
        "Decisions of the window are from before the first record here.",
        "The good runs lie further back than replay keeps decisions."
      ]
    }))
})
