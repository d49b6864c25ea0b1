/** Leases by the database's clock: who holds a name until when. */
import type { StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { inSchema } from "./migrations.ts"
import { faultOf } from "./postgres-fault.ts"
import type { Connections } from "./sessions.ts"
import { query } from "./sessions.ts"

/**
 * A lease has run out at `until_ms` itself, or when the clock stepped back since it was taken. The row's lock decides
 * between two who ask at once.
 */
const take = `INSERT INTO flyball.leases AS l (name, holder, until_ms)
  VALUES ($1::text, $2::text, flyball.flyball_now() + $3::int8)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms
  WHERE l.holder = excluded.holder OR l.until_ms <= flyball.flyball_now()
  OR l.until_ms > flyball.flyball_now() + 2 * $3::int8 RETURNING 1 AS taken`

const release = "DELETE FROM flyball.leases WHERE name = $1::text AND holder = $2::text"

/** Makes the lease calls for one schema. */
export const leasesIn = (readers: Connections, schema: string): Pick<StorageApi, "lease" | "releaseLease"> => ({
  // An answer that is lost may have taken the lease all the same; asking again renews it.
  lease: (name, holder, ttlMs) =>
    Effect.mapBoth(query(readers, inSchema(take, schema), [name, holder, String(Math.ceil(ttlMs))]), {
      onFailure: (error) => faultOf(error, "unknown"),
      onSuccess: (rows) => rows.length === 1
    }),
  releaseLease: (name, holder) =>
    Effect.mapBoth(query(readers, inSchema(release, schema), [name, holder]), {
      onFailure: (error) => faultOf(error, "unknown"),
      onSuccess: () => undefined
    })
})
