/** The kill switch. */
import { type kill, PACK_MEDIA } from "@flyball/contract/http"
import { ActivationPutAside, KILL_TTL_MS } from "@flyball/contract"
import { Chain, Kill, type KillApi, Packs, Principals, type TaggedStatus } from "@flyball/core"
import { Effect } from "effect"
import { acceptsJson } from "../request/accepts.ts"
import { json, jsonWith } from "../answer/answer.ts"
import type { HandlersOf, ServerFacts } from "../request/call.ts"
import { eventStream, ping, serverSentEvent } from "../answer/server-sent-events.ts"
import { untilDrained } from "../request/until-drained.ts"
import { type StreamAdmission, streamAdmission, whileAdmitted } from "../request/admission.ts"
import { scopeOf, writerOf } from "../request/caller.ts"
import { knows } from "../answer/conditional-get.ts"

/** Handlers of the group `kill`. */
export const killHandlers: HandlersOf<typeof kill> = {
  activate: Effect.fnUntraced(function* ({ body, caller, query }) {
    const dryRun = query.dry_run === "true"
    return json(yield* (yield* Kill).activate(body, yield* writerOf(caller), scopeOf(caller), { dryRun }))
  }),
  release: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Kill).release(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  activation: ({ caller, params }) =>
    Kill.use((kill) => kill.activation(params.activation_id, scopeOf(caller))).pipe(Effect.map(json)),
  certificate: Effect.fnUntraced(function* ({ accept, caller, params: { activation_id: id } }) {
    const kill = yield* Kill
    const packs = yield* Packs
    const principals = yield* Principals
    const { tree_size: size } = yield* (yield* Chain).head
    const scope = scopeOf(caller)
    if (acceptsJson(accept, PACK_MEDIA))
      return json((yield* kill.certify(id, size, scope)) ?? (yield* new ActivationPutAside({ activationId: id })))
    const span = (yield* kill.certifiedSpan(id, size, scope)) ?? (yield* new ActivationPutAside({ activationId: id }))
    const writer = Effect.provideService(writerOf(caller), Principals, principals)
    const chunks = yield* packs
      .download({ kind: "range", ...span, disclose: ["expected"] }, writer, scope)
      // It names no agent.
      .pipe(Effect.catchTag("AgentNotFound", Effect.die))
    return { kind: "stream", media: PACK_MEDIA, chunks, fileName: `${id}.evp` } as const
  }),
  ack: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Kill).ack(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  request: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Kill).request(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  events: ({ caller, query }) => Kill.use((kill) => kill.events(query, scopeOf(caller))).pipe(Effect.map(json)),
  status: Effect.fnUntraced(function* (call) {
    const { caller, query, request } = call
    const kill = yield* Kill
    const [target, scope] = [targetOf(query), scopeOf(caller)]
    if (query.nonce !== undefined) return json(yield* kill.status(target, scope, query.nonce))
    let tagged = (yield* kill.statusAfter(target, null, 0, scope))!
    const known = (): boolean => knows(request.headers["if-none-match"], etagOf(tagged))
    const { wait_ms: waitMs = 0 } = query
    if (waitMs > 0 && known()) {
      const { tag } = tagged
      const { found } = yield* whileAdmitted(call, waitMs, (still, stretchMs) =>
        kill.statusAfter(target, tag, stretchMs, scopeOf(still))
      )
      tagged = found ?? tagged
    }
    const headers = headersOf(tagged)
    return known() ? ({ kind: "unchanged", headers } as const) : jsonWith(headers, tagged.status)
  }),
  stream: Effect.fnUntraced(function* (call) {
    const { caller, query, server } = call
    const kill = yield* Kill
    const target = targetOf(query)
    const first = (yield* kill.statusAfter(target, null, 0, scopeOf(caller)))!
    const admission = yield* streamAdmission(call)
    const next = (tag: string): Promise<TaggedStatus | null> =>
      Effect.runPromise(
        untilDrained(kill.statusAfter(target, tag, admission.waitMs(), scopeOf(admission.caller())), server)
      )
    const now = (): Promise<TaggedStatus | null> =>
      Effect.runPromise(kill.statusAfter(target, null, 0, scopeOf(admission.caller())))
    return eventStream(events(first, next, now, admission, server))
  })
}

const targetOf = (query: {
  readonly target_type: string
  readonly target_id: string
}): Parameters<KillApi["status"]>[0] => ({
  type: query.target_type === "model" ? "model" : "agent",
  id: query.target_id
})

const etagOf = ({ tag }: TaggedStatus): string => `"${tag}"`

/**
 * For who keeps the answer: never longer than a third of the time that it counts, and never beyond it. An answer that
 * may be used although it is stale would undo a halt.
 */
const headersOf = (tagged: TaggedStatus) => ({
  etag: etagOf(tagged),
  "cache-control": `private, max-age=${Math.floor(KILL_TTL_MS / 3_000)}, must-revalidate`
})

/**
 * The state now and with each change of what it says, as events; every five seconds a comment. Its id is the epoch: a
 * block without data is no event. Ends when the server drains, and when
 * the caller is no longer admitted: that is checked behind a change and not before it, so that no halt waits for it.
 */
async function* events(
  first: TaggedStatus,
  next: (tag: string) => Promise<TaggedStatus | null>,
  now: () => Promise<TaggedStatus | null>,
  admission: StreamAdmission,
  server: ServerFacts
): AsyncGenerator<Uint8Array> {
  let tagged = first
  yield eventOf(tagged)
  while (!server.draining()) {
    const changed = await next(tagged.tag)
    if (changed !== null) yield eventOf((tagged = changed))
    if (!(await admission.holds())) return
    if (changed !== null || server.draining()) continue
    const { status, tag } = (await now())!
    // A change that came just now is sent by the next turn.
    yield ping(tag === tagged.tag ? status.epoch : null)
  }
}

const eventOf = ({ status }: TaggedStatus): Uint8Array => serverSentEvent(status.epoch, "kill", status)
