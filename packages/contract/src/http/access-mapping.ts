/** The endpoints of the access mapping. Spec: document 1 section 4; api.md "agents and registry". */
import {
  MappingIn,
  type MappingInfo,
  type MappingInput,
  MappingOut,
  ResolveDraftIn,
  type ResolvedInfo,
  ResolvedOut
} from "../access-mapping.ts"
import { named } from "../foundation/plain.ts"
import { access } from "./access.ts"
import { endpoint, json, jsonBody } from "./endpoint.ts"

const Mapping = named<MappingInfo>()(MappingOut)

/** Endpoints of the access mapping. Spec: document 1 section 4, `/admin/entitlement-rules`; decision 0016. */
export const accessMapping = {
  get: endpoint({
    id: "access_mapping.get",
    method: "GET",
    path: "/api/v1/admin/entitlement-rules",
    summary: "Returns the access mapping in force.",
    access: access.administerAll,
    success: json(200, Mapping)
  }),
  set: endpoint({
    id: "access_mapping.set",
    method: "PUT",
    path: "/api/v1/admin/entitlement-rules",
    summary: "Replaces the access mapping, from the next request on.",
    access: access.administerAll,
    body: jsonBody(named<MappingInput>()(MappingIn)),
    success: json(200, Mapping),
    refusals: ["MappingVersionConflict"]
  }),
  resolveDraft: endpoint({
    id: "access_mapping.resolve_draft",
    method: "POST",
    path: "/api/v1/admin/entitlement-rules/resolve-draft",
    summary: "Resolves sample claims against proposed rules. Stores nothing.",
    access: access.administer,
    body: jsonBody(ResolveDraftIn),
    success: json(200, named<ResolvedInfo>()(ResolvedOut))
  })
} as const
