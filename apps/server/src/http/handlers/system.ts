/** Liveness, and who is calling. */
import { Draining, type MeOut, NotWriting } from "@flyball/contract"
import type { system } from "@flyball/contract/http"
import { Storage, StorageUnavailable, Tenant } from "@flyball/core"
import { Effect } from "effect"
import { WriteHealth } from "../../host/write-health.ts"
import { json } from "../answer.ts"
import type { HandlersOf } from "../call.ts"
import { metaOut } from "../meta.ts"
import type { KnownCaller } from "../caller.ts"

/** A store that takes longer to say its head does not answer. */
const HEALTH_TIMEOUT = "2 seconds"

/** Handlers of the group `system`. */
export const systemHandlers: HandlersOf<typeof system> = {
  healthz: Effect.fnUntraced(function*({ server }) {
    if (server.draining()) return yield* new Draining()
    const storage = yield* Storage
    yield* storage.head.pipe(Effect.timeoutOrElse({
      duration: HEALTH_TIMEOUT,
      orElse: () => Effect.fail(new StorageUnavailable({ reason: "the store did not answer in time", wrote: "no" }))
    }))
    if ((yield* WriteHealth)?.writes() === false) return yield* new NotWriting()
    return json({ status: "ok" })
  }),
  status: ({ server }) => Effect.succeed(json({ status: "live", version: server.version })),
  meta: ({ server }) => Tenant.use(({ tenantId }) => Effect.succeed(json(metaOut(server.version, tenantId)))),
  me: ({ caller }) => Effect.succeed(json(meOut(caller)))
}

const meOut = (caller: KnownCaller): MeOut | null => {
  switch (caller.kind) {
    case "key":
      return { subject: caller.writer.id, kind: "key", role: null, org_units: [caller.orgUnit], name: null }
    case "user":
      return { subject: caller.subject, kind: "user", role: caller.role, org_units: caller.orgUnits === "*" ? ["*"] : caller.orgUnits, name: caller.name }
    case "anonymous":
      return null
  }
}
