/** Reads what a caller says of a breaker against its metric. Pure. */
import { detailItem, InvalidInput, MetricNotAvailable } from "@flyball/contract"
import { breakerMetrics, type Metric, metricOf, type Params, readParams, unavailableMetrics } from "@flyball/rules"
import { Result } from "effect"

/** Metrics that a breaker can watch. Spec: format 1 section 10; decision 0044. */
export const breakerMetricNames: ReadonlyArray<string> = breakerMetrics.map(({ name }) => name)

/** A metric with its parameters. */
export interface MeasuredBy {
  readonly metric: Metric
  readonly params: Params
  readonly confidenceBp: number
}

/**
 * The metric of a name and its parameters, defaults included.
 *
 * - Fails: `InvalidInput` for a metric that does not exist, and for each parameter that it does not take, lacks or does
 *   not accept; `MetricNotAvailable` for one whose source is not built.
 */
export const readMeasure = (
  name: string,
  params: { readonly [name: string]: unknown },
  confidenceBp: number
): Result.Result<MeasuredBy, InvalidInput | MetricNotAvailable> => {
  const unavailable = unavailableMetrics.find((one) => one.name === name)
  if (unavailable !== undefined) return Result.fail(new MetricNotAvailable({ metric: name, lacks: unavailable.lacks }))
  const metric = metricOf(name)
  if (metric === null)
    return invalid([
      detailItem(
        ["body", "metric"],
        "enum",
        `Input should be ${breakerMetricNames.map((one) => `'${one}'`).join(", ")}`,
        name
      )
    ])
  const read = readParams(metric, params, confidenceBp)
  const problems = read.ok
    ? []
    : read.problems.map(({ message, param, type }) =>
        detailItem(
          ["body", "params", ...(param === null ? [] : [param])],
          type,
          message,
          param === null || !Object.hasOwn(params, param) ? null : params[param]
        )
      )
  if (confidenceBp !== 0 && metric.isRate !== true)
    problems.push(
      detailItem(
        ["body", "confidence_bp"],
        "value_error",
        `${name} is not a share of samples: leave confidence_bp out, or set it to 0`,
        confidenceBp
      )
    )
  return read.ok && problems.length === 0
    ? Result.succeed({ metric, params: read.params, confidenceBp })
    : invalid(problems)
}

const invalid = (detail: InvalidInput["detail"]) => Result.fail(new InvalidInput({ detail }))
