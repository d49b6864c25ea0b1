/** Rows of the catalogue: results of eval suites. */
import type { BodyOf } from "./body-type.ts"
import { agentId, choice, count, hash, id, type KindRow, may, MIB, must, name, part, writer } from "./row.ts"

const recorded = [
  agentId,
  may("baseline_id", id("evr_")),
  may("calibration_id", id("evr_")),
  must("cases", { type: "integer", min: 1, max: 2_000 }),
  may("common_cases", count),
  must("errored", count),
  must("eval_run_id", id("evr_")),
  must("failed", count),
  may("is_aa", { type: "boolean" }),
  may("losses", count),
  may("model", name(200)),
  may("p", name(32)),
  must("passed", count),
  must("skipped", count),
  must("suite_digest", hash),
  may("verdict", choice("better", "worse", "inconclusive")),
  may("wins", count),
  writer
] as const

/** The body of `eval.recorded`. */
export type EvalRecordedBody = BodyOf<typeof recorded>

/** The rows, in the order of the specification's table. */
export const evalKinds: ReadonlyArray<KindRow> = [
  {
    kind: "eval.recorded",
    about:
      "A person recorded the results of a suite. The counts are trials. With `baseline_id`: the sign test over the " +
      "cases that both runs have, `p` as a decimal, and `verdict`. `is_aa`: model and agent version are the " +
      "baseline's. `calibration_id` names the A/A run by which a gate may fail.",
    body: recorded,
    parts: [
      part("suite", MIB, "`{agent_version?, cases: [{errored, failed, id, passed, skipped}], lost?: [id], name}`")
    ]
  }
]
