/** Limits of operations in words. Spec: document 2 section 8. */
import { type OperationName, type OperationLimit, operationLimits } from "./plans.ts"

const windows: { readonly [window: string]: string } = { "60": "a minute", "3600": "an hour", day: "a day (UTC)" }

/** Writes the limit of an operation: `100 an hour, for each model_id`, code in backticks. */
export const limitWords = (operation: OperationName): string => {
  const limit: OperationLimit | null = operationLimits[operation]
  if (limit === null) return "the plan's"
  const each = limit.per === undefined ? "" : `, for each \`${limit.per}\``
  return `${limit.limit.toLocaleString("en-US")} ${windows[String(limit.window)]}${each}`
}
