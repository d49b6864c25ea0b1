/** Reads the parameters of a breaker against its metric. */
import type { Json, JsonMap } from "../records/record.ts"
import type { Metric, Params, ParamSpec } from "./metric.ts"

/** A problem with one parameter. */
export interface ParamProblem {
  /** Null: about the parameters as a whole. */
  readonly param: string | null
  readonly type:
    | "missing"
    | "extra_forbidden"
    | "int_type"
    | "greater_than_equal"
    | "less_than_equal"
    | "string_pattern_mismatch"
    | "enum"
    | "value_error"
  readonly message: string
}

const NAME = /^[A-Za-z0-9._:/@+-]+$/

/** The parameters with their defaults, or all their problems. Spec: document 1 leaves `params` open; decision 0044. */
export const readParams = (
  metric: Metric,
  given: { readonly [name: string]: unknown },
  confidenceBp: number
):
  | { readonly ok: true; readonly params: Params }
  | { readonly ok: false; readonly problems: ReadonlyArray<ParamProblem> } => {
  const problems: Array<ParamProblem> = []
  const params: { [name: string]: number | string } = {}
  for (const name of Object.keys(given))
    if (!Object.hasOwn(metric.params, name))
      problems.push({
        param: name,
        type: "extra_forbidden",
        message: `${metric.name} takes ${listed(Object.keys(metric.params))}`
      })
  for (const [name, spec] of Object.entries(metric.params)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined) {
      const fallback = "default" in spec ? spec.default : undefined
      if (fallback !== undefined) params[name] = fallback
      else if (spec.optional !== true) problems.push({ param: name, type: "missing", message: "Field required" })
      continue
    }
    const problem = problemOf(spec, value)
    if (problem !== null) problems.push({ param: name, ...problem })
    else params[name] = value as number | string
  }
  if (confidenceBp !== 0 && params["threshold_bp"] === 10_000)
    problems.push({
      param: "threshold_bp",
      type: "value_error",
      message: "With a confidence no share of samples proves 10,000; set 9,999 or less, or confidence_bp 0"
    })
  return problems.length === 0 ? { ok: true, params } : { ok: false, problems }
}

const listed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "no parameters" : names.join(", "))

const problemOf = (spec: ParamSpec, value: unknown): Omit<ParamProblem, "param"> | null => {
  switch (spec.type) {
    case "integer":
      if (!Number.isSafeInteger(value)) return { type: "int_type", message: "Input should be a valid integer" }
      if ((value as number) < spec.min)
        return { type: "greater_than_equal", message: `Input should be greater than or equal to ${spec.min}` }
      if ((value as number) > spec.max)
        return { type: "less_than_equal", message: `Input should be less than or equal to ${spec.max}` }
      return null
    case "name":
      return typeof value === "string" && value.length <= spec.max && NAME.test(value)
        ? null
        : { type: "string_pattern_mismatch", message: `String should match pattern '${NAME.source}'` }
    case "word":
      return spec.words.includes(value as string)
        ? null
        : { type: "enum", message: `Input should be ${spec.words.join(", ")}` }
  }
}

/**
 * Parameters as a record's body holds them: in the order of their names, so that equal parameters are equal bytes.
 * Spec: format 1 section 8, `breaker.armed`.
 */
export const paramsToBody = (params: Params): ReadonlyArray<JsonMap> =>
  Object.entries(params)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => (typeof value === "number" ? { name, number: value } : { name, word: value }))

/** Parameters out of a record's body. */
export const paramsOfBody = (list: Json | undefined): Params => {
  const params: { [name: string]: number | string } = {}
  if (Array.isArray(list))
    for (const one of list as ReadonlyArray<JsonMap>) {
      const value = one["number"] ?? one["word"]
      if (typeof value === "number" || typeof value === "string") params[String(one["name"])] = value
    }
  return params
}
