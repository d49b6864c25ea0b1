/**
 * Paths that are not part of the interface, but about it: public, and no JSON of the contract. They are endpoints like
 * any other to router, dispatcher and log.
 */
import { access, endpoint, media } from "@flyball/contract/http"
import { METRICS_MEDIA } from "../metrics/exposition.ts"

/** Media type of a page to read. */
export const HTML_MEDIA = "text/html; charset=utf-8"

/** The pages. */
export const pages = {
  home: endpoint({
    id: "pages.home",
    method: "GET",
    path: "/",
    summary: "What this server is, with links to its pages.",
    access: access.public,
    success: media(HTML_MEDIA)
  }),
  openApi: endpoint({
    id: "pages.openapi",
    method: "GET",
    path: "/openapi.json",
    summary: "The interface description, OpenAPI 3.1.",
    access: access.public,
    success: media("application/json")
  }),
  docs: endpoint({
    id: "pages.docs",
    method: "GET",
    path: "/docs",
    summary: "The same as a page to read.",
    access: access.public,
    success: media(HTML_MEDIA)
  }),
  /** For a process on this host, or a caller with the token: its handler checks. */
  metrics: endpoint({
    id: "pages.metrics",
    method: "GET",
    path: "/metrics",
    summary: "Measurements, as Prometheus reads them.",
    access: access.public,
    success: media(METRICS_MEDIA),
    refusals: ["Unauthorized"]
  })
} as const
