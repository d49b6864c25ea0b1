/** A person's text in the definition of a monitor. */
import { type Callers, expecting, type Marker } from "./person.ts"

/** Creates a monitor with the text as its name, and as the prediction that it counts. */
export const scatterMonitors = async ({ person }: Callers, { text }: Marker): Promise<void> => {
  const rule = { model_id: "m", metric: "prediction_rate", value: text, comparator: "above", threshold: 0.5 }
  await expecting(person)("POST", "/v1/monitoring/monitors?org_unit=sales", { name: text, ...rule }, 201)
}
