/** Rows of the catalogue: circuit breakers of agents. */
import { agentId, choice, count, id, type KindRow, may, must, name, part, writer } from "./row.ts"

const breakerId = must("breaker_id", id("brk_"))
const asOfMs = must("as_of_ms", count)
/** The head that the plan read. */
const asOfSeq = must("as_of_seq", count)
const metric = must("metric", name(64))
const mode = must("mode", choice("shadow", "warn", "enforce"))
const response = may("response", choice("notify", "step_down", "drain", "halt", "quarantine"))

/** The good runs that set a threshold: how many, within these records. */
const goodRuns = may("good_runs", {
  type: "object",
  members: [must("from_seq", count), must("runs", count), must("to_seq", count)]
})

/** All that a breaker is. Parameters are sorted by name: each is a number or a word. */
const breaker = [
  agentId,
  asOfMs,
  asOfSeq,
  breakerId,
  must("confidence_bp", { type: "integer", min: 0, max: 9_999 }),
  must("enabled", { type: "boolean" }),
  goodRuns,
  may("max_false_stop_bp", { type: "integer", min: 1, max: 5_000 }),
  metric,
  mode,
  must("name", name(64)),
  must("params", {
    type: "list",
    of: { type: "object", members: [must("name", name(64)), may("number", count), may("word", name(200))] },
    min: 0,
    max: 32
  }),
  response,
  writer
] as const

/** The rows, in the order of the specification's table. */
export const breakerKinds: ReadonlyArray<KindRow> = [
  {
    kind: "breaker.armed",
    about:
      "A breaker watches an agent from this record on. Its window begins here. With `max_false_stop_bp` its " +
      "threshold was set by the `runs` good runs in the records `from_seq` to `to_seq`.",
    body: breaker,
    parts: [part("good_runs", 65_536, "`{except: [run_id]}`: runs of the range that are not good")]
  },
  {
    kind: "breaker.changed",
    about: "A breaker was changed. The record has its complete state, and its window restarts here.",
    body: breaker,
    parts: []
  },
  {
    kind: "breaker.tripped",
    about:
      "A breaker tripped. `value` is its metric over the agent's records from the start of its window up to " +
      "`as_of_seq`, at the time `as_of_ms`. `activation_id` names its activation, in mode `enforce` only.",
    body: [
      may("activation_id", id("kil_")),
      agentId,
      asOfMs,
      asOfSeq,
      breakerId,
      may("from_seq", count),
      metric,
      mode,
      response,
      must("samples", count),
      may("to_seq", count),
      must("value", name(64)),
      writer
    ],
    parts: []
  },
  {
    kind: "breaker.released",
    about: "A person armed a tripped breaker again. Its window restarts here. Its activation stays in force.",
    body: [agentId, asOfMs, asOfSeq, breakerId, writer],
    parts: [part("reason", 16_384, "a JSON string: the reason that a person gave")]
  }
]
