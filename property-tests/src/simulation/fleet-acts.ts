/** Acts on the vehicles of a fleet, noted in the ledger. Every number is a choice of the seed. */
import type { GovernorServices } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { Tracking, type TrackingApi } from "../../../packages/platform/src/tracking/service.ts"
import { type Act, ask, unexpected } from "./client.ts"
import { lineOf } from "./ledger.ts"

/** Vehicles, few enough that clients meet. */
const VEHICLES = 3
/** Latitudes inside of each fence, outside within its margin, and far from it. */
const latitudes = [52.5, 52.5013, 52.6]
/** The time from one act to the next: those of a run are of two hours, late ones of a third. */
const TURN_MS = 40_000
const BEGIN_MS = 800_000
const LATE_MS = 3_600_000

/** The cast: hosts of these runs have the platform's services, which their type does not say. */
const using = <A, E>(use: (tracking: TrackingApi) => Effect.Effect<A, E, GovernorServices | Storage>) =>
  Tracking.use(use) as Effect.Effect<A, E, GovernorServices | Storage>

const fence: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, name, pick } = client
  const line = lineOf(ledger.fences, `${name}/${turn}`, () => ({ tries: 0, acknowledged: 0, id: "" }))
  const circle = { latitude: latitudes[0]!, longitude: 13.4, radius_m: 120 }
  const input = { name: `${name}/${turn}`, circle, dwell_s: 20 * pick(3), margin_m: 50 }
  const answer = yield* ask(
    client,
    "fence",
    using((tracking) => tracking.createFence("ops", input)),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "fence", answer.refusal._tag))
  line.acknowledged += 1
  line.id = answer.value.id
})

/** Positions of one vehicle, a few at a time; now and then those of an hour ago. */
const position: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const now = yield* ask(
    client,
    "clock",
    Storage.use(({ asOf }) => asOf)
  )
  if (now === null || !now.done) return
  const vehicle = `van-${pick(VEHICLES)}`
  const fromMs = now.value.ms - BEGIN_MS + turn * TURN_MS - (pick(4) === 0 ? LATE_MS : 0)
  const sent = Array.from({ length: 1 + pick(4) }, (_, at) => ({
    vehicle_id: vehicle,
    at: formatInstant(fromMs + 1_000 * (10 * at + pick(10))),
    latitude: latitudes[pick(latitudes.length)]!,
    longitude: 13.4
  }))
  const lines = sent.map(({ at, latitude }) => {
    const line = lineOf(ledger.positions, `${vehicle} ${at}`, () => ({ latitudes: new Set(), acknowledged: 0 }))
    line.latitudes.add(latitude)
    return line
  })
  const answer = yield* ask(
    client,
    "position",
    using((tracking) => tracking.track("ops", sent))
  )
  if (answer === null) return
  // The store's clock may leap a day before a try is answered: then its positions are too old.
  if (!answer.done && answer.refusal._tag !== "InvalidInput")
    return void (yield* unexpected(client, "position", answer.refusal._tag))
  if (!answer.done) return
  for (const line of lines) line.acknowledged += 1
  const { accepted, repeated } = answer.value
  if (accepted + repeated !== sent.length)
    ledger.problem(`tracks: ${accepted} of ${sent.length} positions were accepted, and ${repeated} repeated`)
})

/** The acts by name. */
export const fleetActs = { fence, position } satisfies { readonly [name: string]: Act }
