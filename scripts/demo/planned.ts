/** The demo's chapter on routes: deliveries planned for a few vans, and the plan as one drawing. */
import { writeFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface Planned {
  readonly jobs: number
  readonly vehicles: number
  readonly used: number
  readonly stops: number
  readonly unassigned: ReadonlyArray<{ readonly job: string; readonly reason: string }>
  readonly seed: string
  readonly iterations: number
}

const POLL_MS = 500
const PLAN_MS = 180_000
const JOBS = 30
const depot = { latitude: 52.5, longitude: 13.4 }
const at = (time: string): string => `2026-11-30T${time}:00+01:00`

/** Places around the depot, the same each time; a few have windows, and one is too much for any van. */
const jobs = Array.from({ length: JOBS }, (_, index) => ({
  id: `job-${index + 1}`,
  location: {
    latitude: (524_000 + ((index * index * 761 + index * 89 + 911) % 2_000)) / 10_000,
    longitude: (131_500 + ((index * index * 1_327 + index * 241 + 401) % 5_000)) / 10_000
  },
  demand: [index === 17 ? 99 : 1 + (index % 3)],
  service_seconds: 300,
  ...(index % 6 === 0 ? { time_windows: [{ start: at("09:00"), end: at("11:00") }] } : {})
}))
const vehicles = ["anna", "berta", "clara", "dora"].map((id) => ({
  id,
  start: depot,
  end: depot,
  capacity: [15],
  shift: { start: at("08:00"), end: at("16:00") }
}))

/** Plans the deliveries, and leaves their drawing at `file`. */
export const planned = async (
  file: string,
  { admin, server }: { readonly admin: string; readonly server: RunningServer }
): Promise<Planned> => {
  const wanted = { name: "fleet", org_unit: "support", plan: "starter", scopes: ["fleet:read", "fleet:write"] }
  const { key } = (await server.call("POST", "/api/v1/admin/platform-keys", admin, wanted)).json
  // So few jobs end the search before the time does: every machine finds the same plan.
  const problem = { vehicles, jobs, seed: "demo", max_seconds: 60 }
  let answer = await server.call("POST", "/v1/fleet/routes/optimize?wait=10", key, problem)
  const isOver = (): boolean => answer.status >= 300 || answer.json.completed_at !== null
  for (let waited = 0; !isOver() && waited < PLAN_MS; waited += POLL_MS) {
    await pause(POLL_MS)
    answer = await server.call("GET", `/v1/fleet/plans/${answer.json.id}`, key)
  }
  const { json: plan } = answer
  if (plan.status !== "completed")
    throw new Error(`the plan is ${plan.status}: ${new TextDecoder().decode(answer.bytes).slice(0, 500)}`)
  writeFileSync(file, drawn(plan))
  const { iterations, seed } = plan.search
  const { stops, vehicles: used } = plan.totals
  return { jobs: JOBS, vehicles: vehicles.length, used, stops, unassigned: plan.unassigned, seed, iterations }
}

/** Routes differ in their dashes too, for those who see no colours. */
const strokes = ["#0b6e99", "#b5480f", "#3d7a1f", "#7a3d99"].map((colour, index) => ({
  colour,
  dash: ["none", "9 4", "3 3", "12 3 3 3"][index]!
}))
const [WIDTH, HEIGHT, EDGE] = [900, 640, 40]
const [west, east, south, north] = [13.15, 13.65, 52.4, 52.6]
const x = (longitude: number): string => (EDGE + ((longitude - west) / (east - west)) * (WIDTH - 2 * EDGE)).toFixed(1)
const y = (latitude: number): string => (EDGE + ((north - latitude) / (north - south)) * (HEIGHT - 160)).toFixed(1)
const placeOf = (job: string) => jobs.find(({ id }) => id === job)!.location
const time = (instant: string): string =>
  new Date(instant).toLocaleTimeString("en-GB", { timeZone: "Europe/Berlin", hour: "2-digit", minute: "2-digit" })

/** Draws a plan as one SVG that needs nothing else. */
const drawn = ({ routes, search, totals, unassigned }: any): string => {
  const text = (left: number, top: number, content: string, more = ""): string =>
    `<text x="${left}" y="${top}" ${more}>${content}</text>`
  const lines = routes.map(({ stops }: any, index: number) => {
    const places = [depot, ...stops.map(({ job }: any) => placeOf(job)), depot]
    const points = places.map(({ latitude, longitude }) => `${x(longitude)},${y(latitude)}`).join(" ")
    const { colour, dash } = strokes[index % strokes.length]!
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`
  })
  const dots = routes.flatMap(({ stops, vehicle }: any, index: number) =>
    stops.map(({ arrival, job }: any, place: number) => {
      const [cx, cy] = [x(placeOf(job).longitude), y(placeOf(job).latitude)]
      const { colour } = strokes[index % strokes.length]!
      return (
        `<g><title>${job}: stop ${place + 1} of ${vehicle}, ${time(arrival)}</title>` +
        `<circle cx="${cx}" cy="${cy}" r="10" fill="${colour}"/>` +
        `<text x="${cx}" y="${cy}" dy="4" text-anchor="middle" fill="#fff" font-size="11">${place + 1}</text></g>`
      )
    })
  )
  const left = unassigned.map(({ job, reason }: any) => {
    const { latitude, longitude } = placeOf(job)
    const [cx, cy] = [x(longitude), y(latitude)]
    const label = text(Number(cx) + 14, Number(cy) + 4, `${job}: ${reason}`, 'font-size="12"')
    return `<circle cx="${cx}" cy="${cy}" r="9" fill="#fff" stroke="#555" stroke-dasharray="2 2"/>${label}`
  })
  const legend = routes.map(({ metres, stops, vehicle }: any, index: number) => {
    const { colour, dash } = strokes[index % strokes.length]!
    const left = EDGE + index * 205
    return (
      `<line x1="${left}" y1="580" x2="${left + 30}" y2="580" stroke="${colour}" stroke-width="3" ` +
      `stroke-dasharray="${dash}"/>` +
      text(
        left + 38,
        584,
        `${vehicle}: ${stops.length} ${stops.length === 1 ? "stop" : "stops"}, ${(metres / 1_000).toFixed(1)} km`,
        'font-size="12"'
      )
    )
  })
  const about =
    `seed ${search.seed}, ${search.iterations} iterations; distances are great circles × 1.3 at 40 km/h, not roads; ` +
    "not proved to be the best plan"
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" role="img">`,
    `<title>A plan of ${JOBS} deliveries</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(EDGE, 26, `${totals.stops} of ${JOBS} deliveries in ${routes.length} routes`, 'font-size="16"'),
    ...lines,
    ...dots,
    ...left,
    `<rect x="${Number(x(depot.longitude)) - 9}" y="${Number(y(depot.latitude)) - 9}" width="18" height="18"/>`,
    ...legend,
    text(EDGE, 612, `${(totals.metres / 1_000).toFixed(1)} km together; ${about}.`, 'font-size="12"'),
    "</svg>",
    ""
  ].join("\n")
}

/** Its lines of the page. */
export const plannedLines = (plan: Planned): ReadonlyArray<string> => [
  `Routes were planned for ${plan.jobs} deliveries and ${plan.vehicles} vans, with loads, shifts and windows: ` +
    `${plan.stops} stops in ${plan.used} routes. ${plan.unassigned
      .map(({ job, reason }) => `No van can make ${job} (${reason})`)
      .join("; ")}.`,
  `The plan is drawn in demo-routes.svg: open it in a browser. Its search had the seed "${plan.seed}" and ` +
    `${plan.iterations} iterations. With them the replay above planned again, and found the same plan byte for byte.`
]
