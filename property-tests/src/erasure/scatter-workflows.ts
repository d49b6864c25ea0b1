/** A person's text in a workflow: its definition, its inputs, what people are shown, and what they answer. */
import { setTimeout as pause } from "node:timers/promises"
import { type Callers, expecting, type Marker } from "./person.ts"

interface Execution {
  readonly id: string
  readonly status: string
}

/** Runs a workflow that asks somebody else, to its end. */
export const scatterWorkflows = async ({ other, person }: Callers, { text }: Marker): Promise<void> => {
  const done = expecting(person)
  const unit = "org_unit=sales"
  const steps = [{ id: "ok", type: "approval", title: text, subject: { who: "{{inputs.who}}" } }]
  const { id } = await done<Execution>("POST", `/v1/workflows?${unit}`, { name: text, steps }, 201)
  const execution = await done<Execution>(
    "POST",
    `/v1/workflows/${id}/executions?${unit}`,
    { inputs: { who: text } },
    201
  )
  const at = `/v1/workflows/executions/${execution.id}`
  while ((await done<Execution>("GET", `${at}?${unit}`, undefined, 200)).status !== "waiting_approval") await pause(20)
  await expecting(other)("POST", `${at}/approve?${unit}`, { approved: true, notes: text }, 200)
  while ((await done<Execution>("GET", `${at}?${unit}`, undefined, 200)).status !== "completed") await pause(20)
}
