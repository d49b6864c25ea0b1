/** Liveness, and who is calling. */
import { Draining, type MeOut, NotWriting } from "@flyball/contract"
import type { system } from "@flyball/contract/http"
import { Storage, StorageUnavailable, summaryOf, Tenant } from "@flyball/core"
import { Effect, Fiber } from "effect"
import { WriteHealth } from "../answer/write-health.ts"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { metaOut } from "../meta.ts"
import type { KnownCaller, PersonCaller } from "../request/caller.ts"

/** A store that takes longer to say its head does not answer. */
const HEALTH_TIMEOUT = "2 seconds"

/** Handlers of the group `system`. */
export const systemHandlers: HandlersOf<typeof system> = {
  healthz: Effect.fnUntraced(function* ({ server }) {
    if (server.draining()) return yield* new Draining()
    const storage = yield* Storage
    // A fiber of its own: giving up a question to a silent database takes seconds too, and who asks does not wait.
    const head = yield* Effect.forkDetach(storage.head)
    yield* Fiber.join(head).pipe(
      Effect.timeoutOrElse({
        duration: HEALTH_TIMEOUT,
        orElse: () => Effect.fail(new StorageUnavailable({ reason: "the store did not answer in time", wrote: "no" }))
      }),
      Effect.ensuring(Effect.sync(() => head.interruptUnsafe()))
    )
    if ((yield* WriteHealth)?.writes() === false) return yield* new NotWriting()
    return json({ status: "ok" })
  }),
  status: ({ server }) => Effect.succeed(json({ status: "live", version: server.version })),
  meta: ({ server }) => Tenant.use(({ tenantId }) => Effect.succeed(json(metaOut(server.version, tenantId)))),
  me: ({ caller }) =>
    // The row admits nobody without a token.
    caller.kind === "anonymous"
      ? Effect.die(new Error("GET /me reached its handler without a caller"))
      : Effect.succeed(json(meOut(caller)))
}

const meOut = (caller: Exclude<KnownCaller, { readonly kind: "anonymous" }>): MeOut => {
  switch (caller.kind) {
    case "key":
      return { subject: caller.writer.id, kind: "key", role: null, org_units: [caller.orgUnit], name: null, grants: [] }
    case "platform":
      return { subject: caller.writer.id, kind: "key", role: null, org_units: [caller.orgUnit], name: null, grants: [] }
    case "user":
      return personOut(caller)
  }
}

/**
 * The strongest role with its org units, as the specification has it, and every grant: what a console asks before it
 * offers an action.
 */
const personOut = ({ grants, name, subject }: PersonCaller): MeOut => {
  const {
    orgUnits,
    roles: [strongest]
  } = summaryOf(grants)
  return {
    subject,
    kind: "user",
    role: strongest ?? null,
    org_units: orgUnits === "*" ? ["*"] : orgUnits,
    name,
    grants: grants.map(({ orgUnit, role }) => ({ role, org_unit: orgUnit }))
  }
}
