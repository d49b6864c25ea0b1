/**
 * A process that takes from limits, holds permits and settles quotas as fast as it can, until it is killed.
 *
 * Arguments: address of the database, and its name. One line on standard output for each thing, with instants of the
 * machine's monotonic clock, which its processes share: `exact FROM TO`, `rows`, `took POLICY FROM TO`, `held ID AT`,
 * `free ID AT`, `settling ID ACTUAL`, `settled ID ACTUAL`.
 */
import { writeSync } from "node:fs"
import { layerOf, Permits, Quotas, RateLimits } from "@flyball/core"
import { postgresStorage } from "@flyball/storage-sql"
import { Effect, Layer } from "effect"
import { EXACT, PERMITS, POLICIES, QUOTA } from "./limited.ts"

const [url, name] = process.argv.slice(2)
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6
const say = (...words: ReadonlyArray<string | number>): void => void writeSync(1, `${words.join(" ")}\n`)

const exact = Effect.gen(function* () {
  const limits = yield* RateLimits
  const rows = [{ subject: "exact", policies: [EXACT] }]
  for (let refused = 0; refused < 20;) {
    const fromMs = nowMs()
    const { admitted } = yield* limits.take({ rows, cost: 1 })
    if (admitted) say("exact", fromMs, nowMs())
    else refused++
  }
  say("rows")
})

const takeFrom = (policy: (typeof POLICIES)[number]) =>
  Effect.gen(function* () {
    const limits = yield* RateLimits
    const rows = [{ subject: policy.name, policies: [policy] }]
    const fromMs = nowMs()
    const { admitted } = yield* limits.take({ rows, cost: 1 })
    if (admitted) say("took", policy.name, fromMs, nowMs())
    yield* Effect.sleep(admitted ? 0 : 20)
  }).pipe(Effect.forever)

const call = Effect.gen(function* () {
  const permits = yield* Permits
  for (let n = 0; ; n++) {
    const permit = yield* permits.hold("calls", PERMITS)
    if (permit.held) {
      say("held", `${name}-${n}`, nowMs())
      yield* Effect.sleep(5)
      say("free", `${name}-${n}`, nowMs())
      yield* permit.release
    } else yield* Effect.sleep(3)
  }
})

const spend = Effect.gen(function* () {
  const quotas = yield* Quotas
  const answer = yield* quotas.reserve({ ...QUOTA, amount: 9 }, 86_400_000)
  if (answer.reserved) {
    const { id } = answer.reservation
    const actual = id.charCodeAt(id.length - 1) % 10
    say("settling", id, actual)
    yield* quotas.settle(answer.reservation, actual)
    say("settled", id, actual)
  }
  yield* Effect.sleep(answer.reserved ? 0 : 50)
}).pipe(Effect.forever)

const all = Effect.andThen(
  exact,
  Effect.all([...POLICIES.flatMap((policy) => [takeFrom(policy), takeFrom(policy)]), call, call, call, spend, spend], {
    concurrency: "unbounded"
  })
)
const services = Layer.mergeAll(RateLimits.layer, Permits.layer, Quotas.layer)
await Effect.runPromise(Effect.provide(all, services.pipe(Layer.provide(layerOf(postgresStorage({ url: url! }))))))
