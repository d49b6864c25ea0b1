/**
 * A process that runs a workflow through its governor: it starts an execution, answers what waits, and sees it end.
 * With a statement it kills itself (SIGKILL) there; as `rest` it goes on with what such a process left, and writes how
 * that lay there and how it ended.
 */
import { writeSync } from "node:fs"
import { capabilityJobs, EXECUTIONS, governorLayer, keysLayerOf, layerOf, Storage } from "@flyball/core"
import { dataFolder, webhookSender } from "@flyball/node"
import { Effect, Layer } from "effect"
import { platform } from "../../../packages/platform/src/index.ts"
import { Workflows } from "../../../packages/platform/src/workflows/service.ts"
import { killingStorage } from "../crash/killing-storage.ts"
import { type StoreAt, storageAt } from "../crash/store-at.ts"
import { UNIT } from "./crash-world.ts"

/** The task of a process. */
export interface CrashingRun {
  readonly at: StoreAt
  readonly dir: string
  readonly is: "live" | "rest"
  readonly workflowId: string
  /** Names the execution: its input. */
  readonly order: string
  readonly statement: string
  readonly moment: string
}

const run = JSON.parse(process.argv[2]!) as CrashingRun
const [ann, ben] = [`usr_${"0".repeat(25)}1`, `usr_${"0".repeat(25)}2`]
const isFinal = (status: string): boolean => ["completed", "failed", "cancelled"].includes(status)

const capabilities = [platform()]
// Reads change nothing: to die at one is to die before the next commit.
const killing = killingStorage(storageAt(run.at), run, ["commit"])
const layer = capabilityJobs(capabilities).pipe(
  Layer.provideMerge(governorLayer({ capabilities })),
  Layer.provideMerge(run.is === "live" ? killing.layer : layerOf(storageAt(run.at))),
  Layer.provide(webhookSender({ egressAllow: ["127.0.0.1"], allowHttp: true })),
  Layer.provide(keysLayerOf(dataFolder({ dir: run.dir })))
) as Layer.Layer<Storage | Workflows, unknown>

/** Answers what waits, until the execution is over; its status then. */
const toItsEnd = Effect.fnUntraced(function* (id: string) {
  const workflows = yield* Workflows
  for (;;) {
    const { status, waiting } = yield* workflows.get(UNIT, id)
    if (isFinal(status)) return status
    if (waiting !== undefined)
      yield* workflows
        .decide(UNIT, id, { approved: true, approval_id: waiting.id }, { writer: { id: ben }, roles: ["reviewer"] })
        .pipe(Effect.catchTag(["ExecutionNotWaiting", "ApprovalAlreadyDecided"], () => Effect.void))
    yield* Effect.sleep(10)
  }
})

const live = Effect.gen(function* () {
  const workflows = yield* Workflows
  killing.begin()
  const { id } = yield* workflows.start(UNIT, run.workflowId, { order: run.order }, { writer: { id: ann }, cap: 10 })
  writeSync(1, `ended ${yield* toItsEnd(id)}\n`)
  killing.end()
})

const rest = Effect.gen(function* () {
  const storage = yield* Storage
  const found = (yield* storage.list(EXECUTIONS, { limit: 1_000 })).filter(
    ({ body }) => (body["inputs"] as { readonly order?: string }).order === run.order
  )
  if (found.length > 1) throw new Error(`${found.length} executions are of ${run.order}`)
  if (found[0] === undefined) return void writeSync(1, "left nothing\n")
  writeSync(1, `left ${String(found[0].body["status"])}\n`)
  writeSync(1, `ended ${yield* toItsEnd(found[0].id)}\n`)
})

await Effect.runPromise(Effect.provide(run.is === "live" ? live : rest, layer))
process.exit(0)
