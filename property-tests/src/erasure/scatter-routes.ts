/** A person's text in plans of routes: the names of vehicles and jobs, with routes and without. */
import { setTimeout as pause } from "node:timers/promises"
import { type Callers, expecting, type Marker } from "./person.ts"

interface Plan {
  readonly id: string
  readonly status: string
  readonly routes: ReadonlyArray<unknown> | null
}

/** Cancels a search that found routes, and one behind it that did not begin. */
export const scatterRoutes = async ({ person }: Callers, { text }: Marker): Promise<void> => {
  const done = expecting(person)
  const location = { latitude: 52.52, longitude: 13.4 }
  const others = Array.from({ length: 199 }, (_, at) => ({ id: `j${at}`, location }))
  const body = { vehicles: [{ id: text }], jobs: [{ id: text, location }, ...others], max_seconds: 60 }
  const optimize = () => done<Plan>("POST", "/v1/fleet/routes/optimize?org_unit=sales", body, 201)
  const plan = (method: string, id: string, what = "") =>
    done<Plan>(method, `/v1/fleet/plans/${id}${what}?org_unit=sales`, method === "GET" ? undefined : {}, 200)
  const { id } = await optimize()
  while ((await plan("GET", id)).status !== "processing") await pause(20)
  const behind = await optimize()
  if ((await plan("POST", behind.id, "/cancel")).routes !== null) throw new Error("It was to have no routes.")
  if ((await plan("POST", id, "/cancel")).routes?.length !== 1) throw new Error("It was to have a route.")
}
