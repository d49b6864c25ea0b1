/** Fairness screens as they travel. Spec: document 1 section 4, `/fairness/screens`; decision 0074. */
import { outcomeSources, rateVerdicts, undefinedRatios } from "@flyball/evidence/words"
import { Schema } from "effect"
import {
  check,
  defaulted,
  foreignName,
  id,
  instant,
  integer,
  integerParam,
  leftOut,
  list,
  oneOf,
  optional,
  orgUnit,
  patterned
} from "./foundation/fields.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { computed, inBody, showsRecords } from "./foundation/place.ts"

export { outcomeSources, rateVerdicts, undefinedRatios }

/** A JSON pointer into the labels of a decision, not to the labels as a whole. */
const pointer = patterned(/^(\/([^/~]|~[01])+)+$/, 200)

/** A value of a label: a text of up to 200 characters, a number, true or false. */
export const screenedValue = Schema.Union([
  Schema.String.check(
    check<string>((text) => text.length <= 200 && text.isWellFormed(), {
      type: "value_error",
      msg: "Input should be a text of at most 200 characters"
    })
  ),
  Schema.Number.check(check<number>(Number.isFinite, { type: "value_error", msg: "Input should be a finite number" })),
  Schema.Boolean
])

/** The condition of a positive outcome. */
export const ScreenOutcomeIn = Schema.Struct({
  source: defaulted(oneOf(outcomeSources), "labels"),
  /** A JSON pointer into `labels`; with source `labels` alone. */
  path: optional(pointer),
  /** Values of a label; outcomes of evaluations; statuses of decisions. 1 to 20. */
  positive: list(screenedValue, 1, 20)
})

/** Body of POST /fairness/screens. Spec: decision 0074. */
export const FairnessScreenIn = Schema.Struct({
  /** Exactly one of `agent_id` and `org_unit`, which has up to 64 agents. */
  agent_id: optional(id("agent")),
  org_unit: optional(orgUnit),
  /** A JSON pointer into the `labels` of decisions: those with the same value there are a group. Up to 20 values. */
  group: pointer,
  outcome: ScreenOutcomeIn,
  /** Only decisions of this action. */
  action: optional(foreignName(200)),
  /** The window, by seq or by time, both included: 20,000 decisions at most. Left out, the newest 20,000. */
  from_seq: optional(integer()),
  to_seq: optional(integer()),
  since: optional(instant),
  until: optional(instant)
})
export type FairnessScreenIn = typeof FairnessScreenIn.Type

/** A question about the decisions of a window. */
export interface FairnessScreenInput extends Input<typeof FairnessScreenIn> {}

/** Query of GET /fairness/screens. */
export const FairnessScreensQuery = Schema.Struct({
  agent_id: Schema.optionalKey(id("agent")),
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  /** Continues behind the screen with this seq. */
  before: Schema.optionalKey(integerParam())
})
export type FairnessScreensQuery = typeof FairnessScreensQuery.Type

const count = Schema.Int
const labelValue = Schema.Union([Schema.String, Schema.Number, Schema.Boolean])
const interval = Schema.Array(Schema.Number)

/** A rate with its exact interval of 95 %. */
const Rate = Schema.Struct({
  value: Schema.Number,
  /** Clopper and Pearson. */
  ci95: interval,
  positive: count,
  n: count
})

/** A group against the one with the highest rate. Intervals are of 95 % for all pairs of groups together. */
const Against = Schema.Struct({
  ratio: Schema.Number,
  /** Koopman's interval; the second bound is null where no ratio is too great. */
  ratio_ci95: Schema.Array(Schema.NullOr(Schema.Number)),
  /** Rate minus the highest rate, with Newcombe's interval. */
  difference: Schema.Number,
  difference_ci95: interval,
  /** By the counts alone, exactly: four fifths is not below. */
  below_four_fifths: Schema.Boolean,
  /** Fisher's exact test, as a decimal, where one of the two groups has fewer than 30 decisions. */
  fisher_p: Schema.NullOr(Schema.String),
  verdict: oneOf(rateVerdicts)
})

/**
 * A screen. Texts of the question and values of groups are null once their part was erased. Spec: document 1 section 4,
 * `/fairness/screens`; decision 0074.
 */
export const FairnessScreen = Schema.Struct({
  id: inBody(Schema.String, "screen_id"),
  agent_id: inBody(Schema.NullOr(Schema.String)),
  /** With a screen of an org unit. */
  agent_ids: inBody(Schema.NullOr(Schema.Array(Schema.String))),
  group: computed(Schema.NullOr(Schema.String)),
  outcome: computed(
    Schema.Struct({
      source: oneOf(outcomeSources),
      path: Schema.NullOr(Schema.String),
      positive: Schema.NullOr(Schema.Array(labelValue))
    })
  ),
  action: inBody(Schema.NullOr(Schema.String)),
  from_seq: inBody(count),
  to_seq: inBody(count),
  as_of_seq: inBody(count),
  /** Decisions of the window. Those of a group, `ungrouped`, `erased` and `without_outcome` add up to it. */
  decisions: inBody(count),
  /** Labels that were erased before. */
  erased: inBody(count),
  /** Decisions without an outcome there. */
  without_outcome: inBody(count),
  /** Decisions that have an outcome and no value of their group; the rate is null without any. */
  ungrouped: computed(Schema.Struct({ n: count, positive: count, rate: Schema.NullOr(Rate) })),
  groups: computed(
    Schema.Array(
      Schema.Struct({
        value: Schema.NullOr(labelValue),
        rate: Rate,
        is_base: Schema.Boolean,
        /** Null for the base, and where no ratio is defined. */
        against_base: Schema.NullOr(Against)
      })
    )
  ),
  /** Null where no ratio is defined. */
  verdict: inBody(Schema.NullOr(oneOf(rateVerdicts))),
  undefined_reason: inBody(Schema.NullOr(oneOf(undefinedRatios))),
  screened_by: inBody(Schema.String, "writer"),
  created_at: computed(instant),
  seq: computed(count),
  record_hash: computed(Schema.String)
}).annotate(
  showsRecords(["fairness.screened"], {
    body: ["base", "groups", "org_unit_digest", "source", "ungrouped", "ungrouped_positive"],
    parts: ["screen"]
  })
)
export type FairnessScreen = typeof FairnessScreen.Type

/** A recorded screen. */
export interface FairnessScreenInfo extends Info<typeof FairnessScreen> {}
