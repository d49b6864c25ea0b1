/** Rows of the catalogue: fairness screens. */
import { outcomeSources, rateVerdicts, undefinedRatios } from "../words.ts"
import type { BodyOf } from "./body-type.ts"
import { choice, count, foreignName, hash, id, type KindRow, may, MIB, must, part, writer } from "./row.ts"

const verdict = may("verdict", choice(...rateVerdicts))

const screened = [
  may("action", foreignName(200)),
  may("agent_id", id("agt_")),
  may("agent_ids", { type: "list", of: id("agt_"), min: 1, max: 64 }),
  must("as_of_seq", count),
  may("base", { type: "integer", min: 0, max: 19 }),
  must("decisions", { type: "integer", min: 0, max: 20_000 }),
  must("erased", count),
  must("from_seq", count),
  must("groups", {
    type: "list",
    of: {
      type: "object",
      members: [may("below_four_fifths", { type: "boolean" }), must("n", count), must("positive", count), verdict]
    },
    min: 0,
    max: 20
  }),
  may("org_unit_digest", hash),
  must("screen_id", id("fsc_")),
  must("source", choice(...outcomeSources)),
  must("to_seq", count),
  may("undefined_reason", choice(...undefinedRatios)),
  must("ungrouped", count),
  must("ungrouped_positive", count),
  verdict,
  must("without_outcome", count),
  writer
] as const

/** The body of `fairness.screened`. */
export type FairnessScreenedBody = BodyOf<typeof screened>

/** The rows, in the order of the specification's table. */
export const fairnessKinds: ReadonlyArray<KindRow> = [
  {
    kind: "fairness.screened",
    about:
      "A person screened the decisions of one agent, or of the agents of an org unit, in the records `from_seq` to " +
      "`to_seq`. `groups` counts them by the value of a label, in the order of the part's `values`; `base` is the " +
      "place of the group with the highest rate, against which four fifths and verdicts are. `source` says where the " +
      "outcome stands. Settlements count up to `as_of_seq`.",
    body: screened,
    parts: [part("screen", MIB, "`{group, path?, positive: [value], values: [value]}`")]
  }
]
