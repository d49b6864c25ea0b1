/** Certificates and the stream of the kill switch. */
import { type kill, PACK_MEDIA } from "@flyball/contract/http"
import { ActivationPutAside } from "@flyball/contract"
import { Chain, Kill, killTargetOf, Packs, Principals, type TaggedStatus } from "@flyball/core"
import { Effect } from "effect"
import { acceptsJson } from "../request/accepts.ts"
import { json } from "../answer/answer.ts"
import type { HandlersOf, ServerFacts } from "../request/call.ts"
import { eventStream, ping, serverSentEvent } from "../answer/sse.ts"
import { untilDrained } from "../request/until-drained.ts"
import { type StreamAdmission, streamAdmission } from "../request/admission.ts"
import { scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the rows of `kill` whose answer depends on Accept, or may not wait for a check of its caller. */
export const killHandlers: HandlersOf<Pick<typeof kill, "certificate" | "stream">> = {
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
  stream: Effect.fnUntraced(function* (call) {
    const { caller, query, server } = call
    const kill = yield* Kill
    const target = killTargetOf(query)
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
