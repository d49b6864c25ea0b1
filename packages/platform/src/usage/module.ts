/** Usage and limits of a caller. Spec: document 2 sections 2 and 8. */
import { operationLimits, planQuotas, type MonthUsage } from "@flyball/contract"
import { usage as rows } from "@flyball/contract/http"
import {
  type Account,
  defineModule,
  type Module,
  oneUnit,
  type OperationsOf,
  Quotas,
  RateLimits,
  storedBytesOf,
  unitOwner
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { GB } from "./storage-limit.ts"

/** Rows of the platform API are served by its dialect alone, which makes the account. */
const accountOf = (account: Account | null): Effect.Effect<Account> =>
  account === null
    ? Effect.die(new Error("a row of the platform API was called without an account"))
    : Effect.succeed(account)

const operations = {
  read: Effect.fnUntraced(function* ({ query }, { account, scope }) {
    const unit = yield* oneUnit(scope, query.org_unit)
    const { plan } = yield* accountOf(account)
    const { period, used } = yield* Quotas.use((quotas) => quotas.used(unit, ["documents", "tokens"]))
    const [stored] = yield* Storage.use((storage) => storage.counters([storedBytesOf(unitOwner(unit))]))
    const { documents, storage_gb: storage, tokens } = planQuotas[plan]
    return {
      period,
      documents_processed: used[0]!,
      documents_limit: documents.limit,
      tokens_used: used[1]!,
      tokens_limit: tokens.limit,
      storage_used_gb: stored! / GB,
      storage_limit_gb: storage.limit
    } satisfies MonthUsage
  }),
  limits: Effect.fnUntraced(function* (_, { account }) {
    const { limits, plan, row } = yield* accountOf(account)
    const { policies } =
      row.policies.length === 0 ? { policies: [] } : yield* RateLimits.use((rates) => rates.look([row]))
    return {
      plan,
      requests: row.policies.map(({ limit, name, window }, at) => ({
        name,
        limit,
        window,
        remaining: policies[at]!.remaining,
        reset: policies[at]!.resetS
      })),
      concurrent: limits.concurrent,
      concurrent_runs: limits.concurrentRuns,
      operations: Object.entries(operationLimits).flatMap(([operation, limited]) =>
        limited === null
          ? []
          : [{ operation, limit: limited.limit, window: limited.window, per: "per" in limited ? limited.per : null }]
      )
    }
  })
} satisfies OperationsOf<typeof rows>

/** Usage and limits. The mechanisms are the governor's own services. Spec: document 2 section 8. */
export const usage: Module<"usage", typeof rows, typeof operations, typeof Layer.empty> = defineModule({
  name: "usage",
  rows,
  operations,
  layer: Layer.empty
})
