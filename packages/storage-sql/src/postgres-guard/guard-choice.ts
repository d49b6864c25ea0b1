/** A guard on Postgres as a choice that costs nothing until it is opened. */
import { Guard, type GuardChoice, guardChoice } from "@flyball/core/storage"
import { StorageUnavailable, type StorageCorrupt } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import type { Scope } from "effect"
import type { GuardRow } from "./guard-row.ts"
import { guardOptionsProblem, guardPlace, guardSchema, type PostgresGuardOptions } from "./options.ts"

/**
 * The signing guard in a Postgres database: one for all hosts that sign for a chain.
 *
 * Keep it in another database than the store's, best on another server: what restores the store must not restore the
 * guard with it. While its database is away no checkpoint is signed, and everything else continues.
 *
 * - Fails, when it is opened: `StorageUnavailable`, also where an option is not what it should be.
 * - Spec: format 1 section 4, "Signing guard"; decision 0042.
 */
export const postgresGuard = (options: PostgresGuardOptions): GuardChoice =>
  guardChoice("postgres", Layer.effect(Guard, Effect.map(openGuardRow(options), Guard.of)))

/** Opens the guard until the scope closes; makes its table first unless it is for reading only. */
export const openGuardRow = (
  options: PostgresGuardOptions
): Effect.Effect<GuardRow, StorageUnavailable | StorageCorrupt, Scope.Scope> =>
  Effect.gen(function* () {
    const problem = guardOptionsProblem(options)
    if (problem !== null) return yield* new StorageUnavailable({ reason: `the signing guard: ${problem}`, wrote: "no" })
    // Loaded now, and not by who has a guard in files.
    const { guardRow, makeGuardTable } = yield* Effect.promise(() => import("./guard-row.ts"))
    const { openSessions } = yield* Effect.promise(() => import("../postgres/sessions.ts"))
    const { faultOf } = yield* Effect.promise(() => import("../postgres/postgres-fault.ts"))
    const { applicationName = "flyball guard", readOnly = false, schema = guardSchema, url } = options
    const place = guardPlace(options)
    const { readers } = yield* Effect.mapError(
      openSessions({ url, applicationName, readOnly, maxConnections: 2 }),
      (error) => faultOf(error)
    )
    if (!readOnly) yield* makeGuardTable(readers, schema, place)
    return guardRow(readers, schema, place)
  })

/** Opens the guard for one piece of work: what a backup and a restore do. Spec: decision 0042. */
export const withPostgresGuard = <A, E>(
  options: PostgresGuardOptions,
  use: (guard: GuardRow) => Effect.Effect<A, E>
): Effect.Effect<A, E | StorageUnavailable | StorageCorrupt> =>
  Effect.scoped(Effect.flatMap(openGuardRow(options), use))
