/** The description of the platform API and its page, which anyone may read. Spec: document 2; api.md "Document 2". */
import { access, type AnyEndpoint, endpoint, media } from "@flyball/contract/http"
import { Effect } from "effect"
import { conditionalGet } from "../answer/conditional-get.ts"
import { HTML_MEDIA } from "../answer/pages.ts"
import type { HandlersOf } from "../request/call.ts"

/** The pages. */
export const platformPages = {
  openApi: endpoint({
    id: "platform_pages.openapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "The interface description, OpenAPI 3.1.",
    access: access.public,
    success: media("application/json")
  }),
  docs: endpoint({
    id: "platform_pages.docs",
    method: "GET",
    path: "/v1/docs",
    summary: "The same as a page to read.",
    access: access.public,
    success: media(HTML_MEDIA)
  })
} as const

/** Handlers of the pages, for these rows. What they answer is made on first use. */
export const platformPagesHandlers = (rows: ReadonlyArray<AnyEndpoint>): HandlersOf<typeof platformPages> => {
  const kept = Effect.promise(() => import("../openapi/kept.ts").then(({ keptPlatform }) => keptPlatform(rows)))
  return {
    openApi: ({ request, server: { prefix } }) =>
      Effect.map(kept, ({ description }) => conditionalGet(request, description(prefix))),
    docs: ({ request, server: { prefix } }) => Effect.map(kept, ({ page }) => conditionalGet(request, page(prefix)))
  }
}
