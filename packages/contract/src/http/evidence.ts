/** The endpoints of evidence packs. Spec: api.md "decisions, chain, evidence". */
import { Schema } from "effect"
import { PackOut, PackRequest } from "../packs.ts"
import { pageQuery } from "../foundation/page.ts"
import { PackNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, media, queryOf } from "./endpoint.ts"

/** Media type of a pack: text, though not for reading in a browser. */
export const PACK_MEDIA = "application/vnd.flyball.evidence-pack"

/** Endpoints of evidence packs. Spec: format 1 section 5. */
export const evidence = {
  create: endpoint({
    id: "evidence.create",
    method: "POST",
    path: "/api/v1/evidence/packs",
    summary: "Requests an evidence pack of the current tree.",
    access: access.exportPacks,
    body: jsonBody(PackRequest),
    success: json(201, PackOut),
    refusals: ["AgentNotFound"]
  }),
  list: endpoint({
    id: "evidence.list",
    method: "GET",
    path: "/api/v1/evidence/packs",
    summary: "Lists requested packs, oldest first.",
    access: access.exportPacks,
    query: queryOf(pageQuery("pack")),
    success: json(200, Schema.Array(PackOut))
  }),
  download: endpoint({
    id: "evidence.download",
    method: "GET",
    path: "/api/v1/evidence/packs/{pack_id}",
    summary: "Downloads a pack, which is built for each request.",
    access: access.exportPacks,
    params: { pack_id: idParam("pack", () => new PackNotFound()) },
    success: media(PACK_MEDIA, "evp"),
    refusals: ["PackNotFound"]
  })
} as const
