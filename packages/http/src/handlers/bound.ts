/** Bounded autonomy. */
import type { bound } from "@flyball/contract/http"
import { Envelopes, Evaluations, Waivers, knownAfter, pageOf } from "@flyball/core"
import { Effect } from "effect"
import { json, jsonWith } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { askerOf, scopeOf, writerOf } from "../request/caller.ts"
import { knows } from "../answer/conditional-get.ts"

/** Says the position in the chain as of which an answer holds: `<seq> <ms>`. Also where nothing changed (304). */
const AS_OF_HEADER = "flyball-as-of"

/** Handlers of the group `bound`. */
export const boundHandlers: HandlersOf<typeof bound> = {
  createEnvelope: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Envelopes).create(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  envelopes: ({ caller, query }) =>
    Envelopes.use((envelopes) =>
      Effect.andThen(
        knownAfter(query.after, (id) => envelopes.get(id, scopeOf(caller))),
        envelopes.list(query, scopeOf(caller))
      )
    ).pipe(Effect.map(json)),
  envelope: ({ caller, params }) =>
    Envelopes.use((envelopes) => envelopes.get(params.envelope_id, scopeOf(caller))).pipe(Effect.map(json)),
  updateEnvelope: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Envelopes).update(params.envelope_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  lint: ({ body, caller, params }) =>
    Envelopes.use((envelopes) => envelopes.lint(params.envelope_id, body, scopeOf(caller), askerOf(caller))).pipe(
      Effect.map(json)
    ),
  publish: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Envelopes).publish(params.envelope_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  withdraw: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Envelopes).withdraw(params.envelope_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  backtest: ({ body, caller, params }) =>
    Envelopes.use((envelopes) => envelopes.backtest(params.envelope_id, body, scopeOf(caller), askerOf(caller))).pipe(
      Effect.map(json)
    ),
  versions: Effect.fnUntraced(function* ({ caller, params, query }) {
    return json(
      yield* pageOf(
        yield* (yield* Envelopes).versions(params.envelope_id, scopeOf(caller)),
        query,
        ({ version }) => version
      )
    )
  }),
  version: ({ caller, params }) =>
    Envelopes.use((envelopes) => envelopes.version(params.envelope_id, params.version, scopeOf(caller))).pipe(
      Effect.map(json)
    ),
  diff: ({ caller, params, query }) =>
    Envelopes.use((envelopes) => envelopes.diff(params.envelope_id, query, scopeOf(caller), askerOf(caller))).pipe(
      Effect.map(json)
    ),
  requestWaiver: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Waivers).request(params.envelope_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  waivers: Effect.fnUntraced(function* ({ caller, params, query }) {
    return json(yield* pageOf(yield* (yield* Waivers).list(params.envelope_id, scopeOf(caller)), query, ({ id }) => id))
  }),
  grantWaiver: Effect.fnUntraced(function* ({ caller, params }) {
    return json(
      yield* (yield* Waivers).grant(params.envelope_id, params.waiver_id, yield* writerOf(caller), scopeOf(caller))
    )
  }),
  envelopesInForce: Effect.fnUntraced(function* ({ caller, params, request }) {
    const { answer, tag } = yield* (yield* Evaluations).inForce(params.agent_id, scopeOf(caller))
    const etag = `"${tag}"`
    const headers = {
      "cache-control": "private, no-cache",
      etag,
      // What is confirmed is confirmed as of now, whatever was read before.
      [AS_OF_HEADER]: `${answer.as_of_seq} ${answer.as_of_ms}`
    }
    return knows(request.headers["if-none-match"], etag)
      ? ({ kind: "unchanged", headers } as const)
      : jsonWith(headers, answer)
  }),
  evaluate: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Evaluations).evaluate(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  evaluations: ({ caller, query }) =>
    Evaluations.use((evaluations) => evaluations.list(query, scopeOf(caller))).pipe(Effect.map(json)),
  evaluation: ({ caller, params }) =>
    Evaluations.use((evaluations) => evaluations.get(params.evaluation_id, scopeOf(caller))).pipe(Effect.map(json)),
  explain: ({ caller, params }) =>
    Evaluations.use((evaluations) => evaluations.explain(params.evaluation_id, scopeOf(caller))).pipe(Effect.map(json)),
  voidEvaluation: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Evaluations).void(params.evaluation_id, body, yield* writerOf(caller), scopeOf(caller)))
  })
}
