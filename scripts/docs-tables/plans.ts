/** The tables of docs/platform-api.md: plans, limits of operations and quotas, out of the contract. */
import {
  limitWords,
  operationLimits,
  type OperationName,
  planLimits,
  planQuotas,
  plans,
  quotaResources
} from "@flyball/contract"

const number = (value: number | null): string => (value === null ? "unlimited" : value.toLocaleString("en-US"))

/** Requests, and runs at once, by plan. */
export const plansTable = (): string =>
  [
    "| plan | requests a minute | requests a day | requests at once | runs at once |",
    "|---|---|---|---|---|",
    ...plans.map((plan) => {
      const { concurrent, concurrentRuns, requestsPerDay, requestsPerMinute } = planLimits[plan]
      const cells = [requestsPerMinute, requestsPerDay, concurrent, concurrentRuns].map(number)
      return `| \`${plan}\` | ${cells.join(" | ")} |`
    })
  ].join("\n")

/** Limits of operations, beside those of the plan. */
export const limitsTable = (): string =>
  [
    "| operation | limit |",
    "|---|---|",
    ...(Object.keys(operationLimits) as ReadonlyArray<OperationName>).map(
      (operation) => `| \`${operation}\` | ${limitWords(operation)} |`
    )
  ].join("\n")

/** Quotas by plan. */
export const quotasTable = (): string =>
  [
    `| resource | ${plans.map((plan) => `\`${plan}\``).join(" | ")} |`,
    `|---|${plans.map(() => "---|").join("")}`,
    ...quotaResources.map((resource) => {
      const cells = plans.map((plan) => {
        const { limit, soft } = planQuotas[plan][resource]
        return `${number(limit)}${soft ? "+" : ""}`
      })
      const each = planQuotas.starter[resource].monthly ? " a month" : ""
      return `| \`${resource}\`${each} | ${cells.join(" | ")} |`
    })
  ].join("\n")
