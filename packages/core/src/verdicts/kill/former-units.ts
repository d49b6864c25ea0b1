/** The digests that an org unit had in the chains before this one: activations of these aim at the unit still. */
import { portableCrypto, utf8 } from "@flyball/evidence"
import { orgUnitDigest } from "@flyball/rules"
import { Effect } from "effect"
import { readFormerOrigins } from "../../chain/former-origins.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** Digests of an org unit; none where it was erased, or no recovery was. */
export type FormerUnits = (orgUnit: string | null) => ReadonlyArray<string>

/** Former units if no activation is aimed at an org unit. */
export const noFormerUnits: FormerUnits = () => []

/** Reads what the chains before this one were called. */
export const formerUnits = (storage: StorageApi): Effect.Effect<FormerUnits, ReadFault> =>
  Effect.map(readFormerOrigins(storage), (origins) => {
    const tags = origins.map((origin) => portableCrypto.sha256(utf8(origin)).slice(0, 4))
    return (orgUnit) => (orgUnit === null ? [] : tags.map((tag) => orgUnitDigest(tag, orgUnit)))
  })
