/** The endpoints of platform keys. Spec: document 2 section 5; api.md "Document 2". */
import { Schema } from "effect"
import { pageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import {
  PlatformKeyCreate,
  type PlatformKeyInfo,
  type PlatformKeyInput,
  PlatformKeyMinted,
  type PlatformKeyMintedInfo,
  PlatformKeyOut
} from "../platform/keys.ts"
import { PlatformKeyNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const PlatformKey = named<PlatformKeyInfo>()(PlatformKeyOut)

/** Endpoints of platform keys. Spec: document 2 section 5; api.md "Document 2". */
export const platformKeys = {
  mint: endpoint({
    id: "platform_keys.mint",
    showsSecret: true,
    method: "POST",
    path: "/api/v1/admin/platform-keys",
    summary: "Creates a platform key. Only this response contains the key.",
    access: access.administer,
    body: jsonBody(named<PlatformKeyInput>()(PlatformKeyCreate)),
    success: json(201, named<PlatformKeyMintedInfo>()(PlatformKeyMinted)),
    refusals: ["OrgUnitNotAllowed"]
  }),
  list: endpoint({
    id: "platform_keys.list",
    method: "GET",
    path: "/api/v1/admin/platform-keys",
    summary: "Lists platform keys without their secrets, oldest first.",
    access: access.administer,
    query: queryOf(pageQuery("platformKey")),
    success: json(200, Schema.Array(PlatformKey))
  }),
  revoke: endpoint({
    id: "platform_keys.revoke",
    method: "POST",
    path: "/api/v1/admin/platform-keys/{platform_key_id}/revoke",
    summary: "Revokes a platform key, from the next request on.",
    access: access.administer,
    params: { platform_key_id: idParam("platformKey", () => new PlatformKeyNotFound()) },
    success: json(200, PlatformKey),
    refusals: ["PlatformKeyNotFound"]
  })
} as const
