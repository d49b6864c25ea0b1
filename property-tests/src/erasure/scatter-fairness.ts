/** A person's text in fairness analyses: the names of a model's columns, and the values of its groups. */
import { type Callers, expecting, type Marker } from "./person.ts"

/** Analyses a data set, and one that has nothing to compare. */
export const scatterFairness = async ({ person }: Callers, { text }: Marker): Promise<void> => {
  const analyze = (groups: ReadonlyArray<string>) => {
    const rows = groups.map((group) => ({ [text]: group, hired: 1 }))
    const body = { model_id: "m1", dataset: { rows, prediction: "hired", protected: [text] } }
    return expecting(person)("POST", "/v1/fairness/analyze?org_unit=sales", body, 201)
  }
  await analyze([text, "other"])
  await analyze([text])
}
