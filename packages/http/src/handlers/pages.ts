/** The page at `/`, the interface description and its page, and the metrics. */
import { Unauthorized } from "@flyball/contract"
import { Effect } from "effect"
import { pieces } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { conditionalGet } from "../answer/conditional-get.ts"
import type { pages } from "../answer/pages.ts"

/** Made on first use: the description reads every shape, and the start does not wait for that. */
const kept = Effect.promise(() => import("../openapi/kept.ts"))

/** Handlers of the group `pages`. */
export const pagesHandlers: HandlersOf<typeof pages> = {
  home: ({ request, server: { isDemo, prefix, version } }) =>
    Effect.map(kept, ({ keptHome }) => conditionalGet(request, keptHome({ isDemo, prefix, version }))),
  openApi: ({ request, server: { prefix } }) =>
    Effect.map(kept, ({ keptDescription }) => conditionalGet(request, keptDescription(prefix))),
  docs: ({ request, server: { prefix } }) =>
    Effect.map(kept, ({ keptPage }) => conditionalGet(request, keptPage(prefix))),
  metrics: Effect.fnUntraced(function* ({ request, server }) {
    const { metricsText, mayReadMetrics, METRICS_MEDIA } = yield* Effect.promise(() => import("../metrics/metrics.ts"))
    if (!mayReadMetrics(request, server.metricsToken, server.localMetrics)) return yield* new Unauthorized({})
    return pieces(METRICS_MEDIA, Buffer.from(yield* metricsText(server)))
  })
}
