/** The storage that a plan grants. Spec: document 2 section 8. */
import { planQuotas } from "@flyball/contract"
import type { Account } from "@flyball/core"

/** Bytes of a gigabyte, as quotas count storage. */
export const GB = 1_000_000_000

/** The gigabytes that a plan grants, and the bytes that it admits; null where nothing limits them. */
export const storageLimit = (
  account: Account | null
): { readonly limit: number | null; readonly bytes: number | null } => {
  if (account === null) return { limit: null, bytes: null }
  const { limit, soft } = planQuotas[account.plan].storage_gb
  return { limit, bytes: soft || limit === null ? null : limit * GB }
}
