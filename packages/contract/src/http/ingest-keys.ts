/** The endpoints of ingest keys. Spec: document 1 section 5; api.md "agents and registry". */
import { Schema } from "effect"
import {
  IngestKeyCreate,
  type IngestKeyInfo,
  type IngestKeyInput,
  IngestKeyMinted,
  type IngestKeyMintedInfo,
  IngestKeyOut
} from "../ingest-keys.ts"
import { pageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import { IngestKeyNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const IngestKey = named<IngestKeyInfo>()(IngestKeyOut)

/** Endpoints of ingest keys. Spec: document 1 section 5, items 3 to 6. */
export const ingestKeys = {
  mint: endpoint({
    id: "ingest_keys.mint",
    showsSecret: true,
    method: "POST",
    path: "/api/v1/admin/ingest-keys",
    summary: "Creates an ingest key. Only this response contains the secret.",
    access: access.administer,
    body: jsonBody(named<IngestKeyInput>()(IngestKeyCreate)),
    success: json(201, named<IngestKeyMintedInfo>()(IngestKeyMinted)),
    refusals: ["OrgUnitNotAllowed"]
  }),
  list: endpoint({
    id: "ingest_keys.list",
    method: "GET",
    path: "/api/v1/admin/ingest-keys",
    summary: "Lists ingest keys without their secrets, oldest first.",
    access: access.administer,
    query: queryOf(pageQuery("ingestKey")),
    success: json(200, Schema.Array(IngestKey))
  }),
  revoke: endpoint({
    id: "ingest_keys.revoke",
    method: "POST",
    path: "/api/v1/admin/ingest-keys/{key_id}/revoke",
    summary: "Revokes an ingest key, from the next request on.",
    access: access.administer,
    params: { key_id: idParam("ingestKey", () => new IngestKeyNotFound()) },
    success: json(200, IngestKey),
    refusals: ["IngestKeyNotFound"]
  })
} as const
