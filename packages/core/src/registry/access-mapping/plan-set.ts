/** Plans the setting of the access mapping. Pure. */
import { detailItem, InvalidInput, type MappingIn, MappingVersionConflict } from "@flyball/contract"
import { canonicalBytes } from "@flyball/evidence"
import { Result } from "effect"
import type { ChangeSet } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { mappedRules, mappingOut, type StoredMapping } from "./document.ts"
import type { MappingDocument } from "@flyball/rules"
import { ACCESS_MAPPING, MAPPING_ID } from "@flyball/rules"

/** The mapping there will be, and the change that makes it. */
export interface MappingPlan {
  readonly mapping: MappingDocument
  readonly change: ChangeSet
}

/**
 * Decides what setting the mapping would change: all of it, in one record.
 *
 * - Fails: `MappingVersionConflict` when `if_version` is not the version that is there; `InvalidInput` for an id that
 *   stands twice, and for a mapping under
 *   which nobody could change it again: rules, but none that makes somebody admin of every org unit.
 * - Spec: api.md "Who may call"; decision 0016.
 */
export const planSetMapping = (
  stored: StoredMapping,
  input: MappingIn,
  writer: Writer
): Result.Result<MappingPlan, InvalidInput | MappingVersionConflict> => {
  if (typeof input.if_version === "number" && input.if_version !== stored.version)
    return Result.fail(new MappingVersionConflict({ version: stored.version }))
  const mapping: MappingDocument = { rules: mappedRules(input.rules), trustCanonical: input.trust_canonical }
  const ids = mapping.rules.map(({ id }) => id)
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index)
  if (twice >= 0) return invalid(["rules", String(twice), "id"], "Each rule has an id of its own", ids[twice])
  const lockedOut =
    mapping.rules.length > 0 &&
    !mapping.trustCanonical &&
    !mapping.rules.some(({ orgUnit, role }) => role === "admin" && orgUnit === "*")
  if (lockedOut)
    return invalid(
      ["rules"],
      "Nobody could change this mapping again: a rule with role admin and org_unit * is needed",
      null
    )
  const { rules, trust_canonical } = mappingOut({ version: 0, body: mapping })
  return Result.succeed({
    mapping,
    change: {
      puts: [{ collection: ACCESS_MAPPING, id: MAPPING_ID, expectedVersion: stored.version, body: mapping }],
      records: [
        {
          kind: "mapping.changed",
          agentId: null,
          body: { rules: rules.length, writer: writer.id },
          parts: [{ name: "mapping", bytes: canonicalBytes({ rules, trust_canonical }) }]
        }
      ]
    }
  })
}

const invalid = (loc: ReadonlyArray<string>, msg: string, input: unknown): Result.Result<never, InvalidInput> =>
  Result.fail(new InvalidInput({ detail: [detailItem(["body", ...loc], "value_error", msg, input)] }))
