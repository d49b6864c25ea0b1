/** The events of an org unit, to be polled. Spec: document 2 section 6; api.md "Document 2". */
import { platformEventTypes } from "@flyball/contract"
import { platformEventRows as rows } from "@flyball/contract/http"
import { defineModule, Lists, type Module, oneUnit, type OperationsOf, unitOwner } from "@flyball/core"
import { Effect, Layer } from "effect"

const operations = {
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* oneUnit(scope, query.org_unit))
    const types = query.type === undefined ? platformEventTypes : [query.type]
    const { rows: data, ...page } = yield* Lists.use((lists) =>
      lists.events({ route: rows.list.id, owner, query }, types)
    )
    return { data, ...page }
  })
} satisfies OperationsOf<typeof rows>

/** The events of an org unit, those that nobody subscribed to included. Spec: document 2 section 6. */
export const events: Module<"platform_events", typeof rows, typeof operations, typeof Layer.empty> = defineModule({
  name: "platform_events",
  rows,
  operations,
  layer: Layer.empty
})
