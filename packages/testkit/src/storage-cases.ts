/** All storage cases. Spec: style section 8. */
import { boundCases } from "./cases/bounds.ts"
import { claimCases } from "./cases/claims.ts"
import { concurrencyCases } from "./cases/concurrency.ts"
import { conflictCases } from "./cases/conflicts.ts"
import { counterCases } from "./cases/counters.ts"
import { documentCases } from "./cases/documents.ts"
import { forgetCases } from "./cases/forget.ts"
import { genesisCases } from "./cases/genesis.ts"
import { hashCases } from "./cases/hashes.ts"
import { keyCases } from "./cases/keys.ts"
import { leaseCases } from "./cases/leases.ts"
import { idempotencyCases } from "./cases/idempotency.ts"
import { limitCases } from "./cases/limits.ts"
import { outboxCases } from "./cases/outbox.ts"
import { partCases } from "./cases/parts.ts"
import { queryCases } from "./cases/queries.ts"
import { recordCases } from "./cases/records.ts"
import type { StorageCase } from "./storage-case.ts"

/** Storage cases that every store must pass. Names are unique; there are no skip flags. */
export const storageCases: ReadonlyArray<StorageCase> = [
  ...genesisCases,
  ...documentCases,
  ...keyCases,
  ...conflictCases,
  ...recordCases,
  ...queryCases,
  ...partCases,
  ...idempotencyCases,
  ...outboxCases,
  ...claimCases,
  ...forgetCases,
  ...leaseCases,
  ...counterCases,
  ...limitCases,
  ...hashCases,
  ...concurrencyCases,
  ...boundCases
]
