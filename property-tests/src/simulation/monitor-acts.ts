/** Acts on monitors and inferences, noted in the ledger. Every number is a choice of the seed. */
import { type GovernorServices, systemHost } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { Monitors, type MonitorsApi } from "../../../packages/platform/src/monitoring/service.ts"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { lineOf } from "./ledger.ts"

/** Models, few enough that clients meet; monitors that the plan allows: fewer than clients want. */
const MODELS = 2
const LIMIT = 4

/** The cast: hosts of these runs have the platform's services, which their type does not say. */
const using = <A, E>(use: (monitors: MonitorsApi) => Effect.Effect<A, E, GovernorServices | Storage>) =>
  Monitors.use(use) as Effect.Effect<A, E, GovernorServices | Storage>

const watch: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, name, pick } = client
  const line = lineOf(ledger.monitors, `${name}/${turn}`, () => ({ tries: 0, acknowledged: 0, id: "" }))
  const input = {
    name: `${name}/${turn}`,
    model_id: `m${pick(MODELS)}`,
    metric: "error_rate" as const,
    comparator: "above" as const,
    threshold: 0.4,
    min_samples: 3,
    window_s: 60,
    pending_s: 2 * pick(2),
    clear_s: 3,
    no_data_s: 60,
    on_no_data: (["keep", "alert", "resolve"] as const)[pick(3)]!
  }
  const answer = yield* ask(
    client,
    "watch",
    using((monitors) => monitors.create("ops", input, { writer: systemHost, limit: LIMIT })),
    line
  )
  if (answer === null) return
  if (answer.done) {
    line.acknowledged += 1
    line.id = answer.value.id
  } else if (answer.refusal._tag !== "PlanLimitReached") yield* unexpected(client, "watch", answer.refusal._tag)
})

const unwatch: Act = Effect.fnUntraced(function* (client) {
  const id = some(client)
  if (id === null) return
  const answer = yield* ask(
    client,
    "unwatch",
    using((monitors) => monitors.remove("ops", id, systemHost))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "unwatch", answer.refusal._tag))
  client.ledger.unwatched.add(id)
})

/** Some monitor that was acknowledged. */
const some = ({ ledger, pick }: Client): string | null => {
  const ids = [...ledger.monitors.values()].flatMap(({ id }) => (id === "" ? [] : [id]))
  return ids[pick(Math.max(1, ids.length))] ?? null
}

/** Logs inferences of both models, all good or mostly bad: what is counted passes the threshold and comes back. */
const log: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, name, pick } = client
  const [call, count, bad] = [`${name}/${turn}`, 2 * (1 + pick(6)), pick(3) === 0 ? 0 : 1 + pick(3)]
  const line = lineOf(ledger.inferences, call, () => ({ tries: 0, acknowledged: 0, count }))
  const answer = yield* ask(
    client,
    "log",
    Effect.flatMap(
      Storage.use(({ asOf }) => asOf),
      ({ ms }) =>
        using((monitors) =>
          monitors.log(
            "ops",
            Array.from({ length: count }, (_, row) => ({
              model_id: `m${row % MODELS}`,
              inference_id: call,
              at: formatInstant(ms),
              prediction: "a",
              error: row % 4 < bad
            }))
          )
        )
    ),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "log", answer.refusal._tag))
  line.acknowledged += 1
})

/** The acts by name. */
export const monitorActs = { watch, unwatch, log } satisfies { readonly [name: string]: Act }
