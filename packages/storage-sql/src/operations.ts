/**
 * Operations on a whole store: copying and migrating. A part of its own, so that a host that only uses a store does not
 * load it.
 */
export { copyFromFile, copyToFile } from "./copy/copy-store.ts"
export type { RetiredLocation } from "./copy/retired-locations.ts"
export { retiredLocation, retiredLocations } from "./copy/retired-locations.ts"
export { removeStore } from "./copy/take-back.ts"
export type { RetiredMigration } from "./migrate-retired.ts"
export { migrateRetired, missingInRetired } from "./migrate-retired.ts"
export type { PlannedMigration } from "./migrate-store.ts"
export { fileSchema, migrateStore, missingMigrations } from "./migrate-store.ts"
export type { StoreLocation } from "./store-location.ts"
export type { GuardRow } from "./postgres-guard/guard-row.ts"
export { withPostgresGuard } from "./postgres-guard/guard-choice.ts"
export { guardOptionsProblem, guardPlace } from "./postgres-guard/options.ts"
