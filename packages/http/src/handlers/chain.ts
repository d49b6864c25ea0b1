/** The chain: read, recomputed, proved, and parts of it erased. */
import type { chain } from "@flyball/contract/http"
import { Chain, Checkpointer, Erasure, Parts, pageOf } from "@flyball/core"
import { utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { json, pieces } from "../answer/answer.ts"
import { listText, recordText } from "../answer/json-text.ts"
import { acceptsNdjson } from "../request/accepts.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `chain`. */
export const chainHandlers: HandlersOf<typeof chain> = {
  head: () => Chain.use((chain) => chain.head).pipe(Effect.map(json)),
  verify: ({ query }) => Chain.use((chain) => chain.verify(query.from, query.to)).pipe(Effect.map(json)),
  records: ({ accept, query }) =>
    Chain.use((chain) => chain.records(query)).pipe(
      Effect.map((records) => {
        const texts = records.map(recordText)
        return acceptsNdjson(accept)
          ? ({ kind: "lines", lines: texts } as const)
          : ({ kind: "text", text: listText(texts) } as const)
      })
    ),
  record: ({ params }) =>
    Chain.use((chain) => chain.record(params.seq)).pipe(
      Effect.map((record) => ({ kind: "text", text: recordText(record) }) as const)
    ),
  part: ({ caller, params }) =>
    Parts.use((parts) => parts.get(params.seq, params.name, scopeOf(caller))).pipe(Effect.map(json)),
  proof: ({ params, query }) => Chain.use((chain) => chain.proof(params.seq, query.tree_size)).pipe(Effect.map(json)),
  consistency: ({ query }) => Chain.use((chain) => chain.consistency(query.from, query.to)).pipe(Effect.map(json)),
  checkpoint: Effect.fnUntraced(function* () {
    const note = (yield* (yield* Chain).checkpointText) ?? (yield* (yield* Checkpointer).now).note
    return pieces("text/plain; charset=utf-8", utf8(note))
  }),
  genesis: ({ query }) => Chain.use((chain) => chain.genesis(query.chain)).pipe(Effect.map(json)),
  keys: Effect.fnUntraced(function* ({ query }) {
    const chain = yield* Chain
    return json({ origin: chain.origin, keys: yield* pageOf(yield* chain.keys, query, ({ key_id }) => key_id) })
  }),
  erase: Effect.fnUntraced(function* ({ body, caller }) {
    const erasure = yield* Erasure
    return json(yield* erasure.erase(body, yield* writerOf(caller)))
  })
}
