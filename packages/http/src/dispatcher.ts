/** Makes the dispatcher of a server or a mounted surface: endpoints, handlers and dialects of all that is installed. */
import { endpoints } from "@flyball/contract/http"
import { modulesOf } from "@flyball/core"
import { pages } from "./answer/pages.ts"
import type { Dialect } from "./dialect.ts"
import { dispatch, type Dispatcher } from "./dispatch.ts"
import { byId, handlers } from "./handlers/all.ts"
import { derivedHandlers } from "./handlers/derived.ts"
import { WorkAdmission } from "./request/admit-work.ts"
import { requestId } from "./request/request-id.ts"
import { platformDialect } from "./platform/dialect.ts"
import { platformPages, platformPagesHandlers } from "./platform/pages.ts"
import { router } from "./router.ts"
import type { SurfaceOptions } from "./surface.ts"

/** The dialect of document 1, which also answers every path that no dialect serves. */
const governance: Dialect = {
  serves: () => true,
  requestId: ({ headers }) => requestId(headers["x-request-id"]),
  dispatch,
  shown: (problem) => problem
}

/** Makes the dispatcher of a surface. */
export const dispatcherOf = (
  {
    access,
    capabilities = [],
    pages: hasPages,
    planOfPeople = "enterprise",
    trustedProxy = null
  }: Omit<SurfaceOptions, "onAnswered">,
  server: Dispatcher["server"]
): Dispatcher => {
  const modules = modulesOf(capabilities)
  const rows = modules.flatMap(({ rows }) => Object.values(rows))
  return {
    route: router([
      ...endpoints,
      ...rows,
      ...(rows.length > 0 ? Object.values(platformPages) : []),
      ...(hasPages ? Object.values(pages) : [])
    ]),
    handlers: {
      ...handlers,
      ...Object.fromEntries(derivedHandlers(modules)),
      ...Object.fromEntries(byId(platformPages, platformPagesHandlers(rows)))
    },
    dialects: [platformDialect({ planOfPeople, trustedProxy }), governance],
    admission: new WorkAdmission(),
    access,
    server
  }
}
