/** Rows of the catalogue: what follows when something triggers. */
import { MAX_PART_BYTES } from "../pack/format.ts"
import { type KindRow, must, objectPart, writer } from "./row.ts"

/** The rows, in the order of the specification's table. */
export const responsePolicyKinds: ReadonlyArray<KindRow> = [
  {
    kind: "response_policy.changed",
    about:
      "The whole response policy was replaced. `rows` is the number of its rows. The rows are a part, because they " +
      "name org units and e-mail addresses.",
    body: [must("rows", { type: "integer", min: 0, max: 1000 }), writer],
    parts: [objectPart("policy", MAX_PART_BYTES, ["rows: [{notify, response, scope, target, trigger}]"])]
  }
]
