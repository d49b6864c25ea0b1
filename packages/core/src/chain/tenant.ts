/** The tenant of this deployment. Spec: api "Conventions", `tenant_id` is fixed at the first start. */
import { Context, Effect, Layer, Schema } from "effect"
import { Chain } from "./chain.ts"
import { commitWithRetry } from "../storage/commit-with-retry.ts"
import { type ReadFault, Storage } from "../storage/port.ts"

/** The collection of the choice. Working state: no record holds it, since it concerns no agent. */
const SETTINGS = "settings"
const TENANT = "tenant"

/** Default of `tenant_id`. */
export const defaultTenantId = "default"

const TENANT_ID = /^[A-Za-z0-9._-]{1,64}$/

/** Reports whether this can be a tenant's id. It is fixed from the first start on. */
export const isTenantId = (value: unknown): value is string => typeof value === "string" && TENANT_ID.test(value)

/**
 * The requested tenant is not the one this store was started with. Spec: document 1 section 1, one organisation for
 * each deployment.
 */
export class TenantRefused extends Schema.TaggedError<TenantRefused>()("TenantRefused", {
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return (
      `This store belongs to the tenant ${this.expected}, not to ${this.found}. A tenant never ` +
      "changes: leave the setting out, or use another store."
    )
  }
}

/** The tenant of this deployment. Spec: document 1 sections 1 and 2, `tenant_id`. */
export class Tenant extends Context.Service<Tenant, { readonly tenantId: string }>()("flyball/core/Tenant") {
  /**
   * Fixes the tenant at the first start, and holds later starts to it. Without a choice the store's own tenant stands.
   * It asks for the chain so that a store which cannot be opened is not written to.
   */
  static readonly layer = (options: {
    readonly tenantId?: string
    readonly readOnly?: boolean
  }): Layer.Layer<Tenant, TenantRefused | ReadFault, Storage | Chain> =>
    Layer.effect(
      Tenant,
      Effect.gen(function* () {
        const { readOnly = false, tenantId } = options
        yield* Chain
        const storage = yield* Storage
        const fixed = yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const document = yield* storage.get(SETTINGS, TENANT)
            if (document !== null) return String(document.body["tenantId"])
            const chosen = tenantId ?? defaultTenantId
            if (readOnly) return chosen
            yield* storage.commit({
              puts: [{ collection: SETTINGS, id: TENANT, expectedVersion: 0, body: { tenantId: chosen } }]
            })
            return chosen
          })
        )
        if (tenantId !== undefined && tenantId !== fixed)
          return yield* new TenantRefused({ expected: fixed, found: tenantId })
        return { tenantId: fixed }
      })
    )
}
