/** Rows of the catalogue: alarms of behaviour. */
import type { BodyOf } from "./body-type.ts"
import { agentId, choice, count, id, type KindRow, may, must, name, writer } from "./row.ts"

const alarmed = [
  may("activation_id", id("kil_")),
  agentId,
  must("as_of_seq", count),
  must(
    "dimension",
    choice(
      "action",
      "tool_server",
      "kind",
      "outcome",
      "sequence",
      "latency_ms",
      "cost_micro_usd",
      "tokens",
      "run_length"
    )
  ),
  must("e_value", name(32)),
  must("epoch_from_seq", count),
  must("runs", { type: "integer", min: 1, max: 4_096 }),
  writer
] as const

/** The body of `drift.alarmed`. */
export type DriftAlarmedBody = BodyOf<typeof alarmed>

/** The rows, in the order of the specification's table. */
export const driftKinds: ReadonlyArray<KindRow> = [
  {
    kind: "drift.alarmed",
    about:
      "The runs of an agent from record `epoch_from_seq` up to the decision `as_of_seq` are not of one kind: " +
      "`e_value` is 20 or more, as a decimal, after `runs` runs, and `dimension` changed most. With `activation_id` " +
      "a row of the response policy matched, and this commit activates.",
    body: alarmed,
    parts: []
  }
]
